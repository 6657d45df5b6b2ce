package version

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	of := func(v string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: v}} }
	for _, c := range []struct {
		stamp string
		info  *debug.BuildInfo
		want  string
	}{
		{"v1.2.3", of("v0.0.0-1"), "v1.2.3"}, {"", of("v1.2.4"), "v1.2.4"}, {"", of("(devel)"), "dev"}, {"", of(""), "dev"}, {"", nil, "dev"},
	} {
		if got := choose(c.stamp, c.info, c.info != nil); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What the builds link with sets the stamp of the programs that they build.
func TestStamp(t *testing.T) {
	flags := exec.Command("../../scripts/ldflags.sh")
	flags.Env = append(flags.Environ(), "ROCWIRE_VERSION=v9.8.7-test")
	ld, err := flags.Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "show")
	if out, err := exec.Command("go", "build", "-ldflags", string(ld), "-o", program, "./testdata/show").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).Output(); err != nil || strings.TrimSpace(string(out)) != "v9.8.7-test" {
		t.Errorf("%q, %v", out, err)
	}
}
