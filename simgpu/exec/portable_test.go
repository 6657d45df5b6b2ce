//go:build linux && amd64

package exec

import (
	goflag "flag"
	"os"
	"testing"
)

var portable = goflag.Bool("portable", false, "translate nothing, as on processors that there is no translation for")

func TestMain(m *testing.M) {
	goflag.Parse()
	useNative = useNative && !*portable
	os.Exit(m.Run())
}
