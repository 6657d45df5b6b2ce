package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFlags: what is deployed starts the programs with flags that they have.
func TestFlags(t *testing.T) {
	flag := regexp.MustCompile(`(?:^|[\[" =,])(--[a-z][a-z0-9-]+)`)
	for program, files := range map[string]map[string]string{ // a file, and what its lines with flags look like
		"hip-worker": {
			"kubernetes/worker.yaml": "args:", "systemd/hip-worker.service": "hip-worker --|_FLAGS=", "docker/worker.Dockerfile": "^ENTRYPOINT|^CMD",
			"compose.yaml": `command: \[--backend`,
		},
		"gpu-exporter": {
			"kubernetes/exporter.yaml": "args:", "systemd/gpu-exporter.service": "gpu-exporter --|_FLAGS=", "docker/exporter.Dockerfile": "^ENTRYPOINT",
			"compose.yaml": `command: \[--worker`,
		},
	} {
		bin := filepath.Join(t.TempDir(), program)
		if out, err := exec.Command("go", "build", "-o", bin, "../cmd/"+program).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		help, err := exec.Command(bin, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		known := regexp.MustCompile(`--[a-z][a-z0-9-]+`).FindAllString(string(help), -1)
		for file, which := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(string(b)) {
				if !regexp.MustCompile(which).MatchString(line) {
					continue
				}
				for _, m := range flag.FindAllStringSubmatch(line, -1) {
					n++
					if !slices.Contains(known, m[1]) {
						t.Errorf("%s: %s has no flag %s", file, program, m[1])
					}
				}
			}
			if n == 0 {
				t.Errorf("%s starts %s without flags", file, program)
			}
		}
	}
}
