package dashboards

import "testing"

func testLiveRules(t *testing.T, p *server) {}
