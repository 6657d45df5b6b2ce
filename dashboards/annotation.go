package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

func (e *event) builder() *dashboard.AnnotationQueryBuilder {
	return dashboard.NewAnnotationQueryBuilder().Name(e.name).Datasource(source).Enable(true).IconColor(e.color).Expr(e.expr)
}

// addWords adds what Grafana's Prometheus data source takes from an annotation
// and the SDK's type does not know.
func (e *event) addWords(m map[string]any) {
	m["titleFormat"], m["textFormat"], m["step"] = e.title, e.text, "30s"
	m["target"] = map[string]any{"expr": e.expr, "refId": "Anno", "interval": "30s"}
}

// Events that several boards mark.
var (
	sessionsStarted = event{"Sessions started", onHost(`increase(hip_worker_sessions_total{`+inst+`}[$__rate_interval])`) + ` > 0`, blue,
		"Session started", "{{host}}"}
	eccEvent = event{"Uncorrectable ECC errors", onHost(`increase(gpu_ecc_errors_total{severity="uncorrectable",`+inst+`}[$__rate_interval])`) + ` > 0`, red,
		"Uncorrectable ECC error", "{{host}} GPU {{gpu}}"}
	throttleEvent = event{"Throttling", onHost(`max by (job, instance, gpu, kind) (gpu_throttle_violation_active{`+inst+`})`) + ` > 0`, orange,
		"Clocks lowered by {{kind}}", "{{host}} GPU {{gpu}}"}
)
