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
			"systemd/hip-worker.service": "hip-worker --|_FLAGS=", "docker/worker.Dockerfile": "^ENTRYPOINT|^CMD",
			"compose.yaml": `command: \[--backend`,
		},
		"rocwire-dra": {},
		"gpu-exporter": {
			"systemd/gpu-exporter.service": "gpu-exporter --|_FLAGS=", "docker/exporter.Dockerfile": "^ENTRYPOINT",
			"compose.yaml": `command: \[--insecure, --worker`,
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
		if program == "rocwire-dra" { // its commands have flags of their own
			for _, command := range []string{"node", "publish"} {
				more, err := exec.Command(bin, command, "--help").Output()
				if err != nil {
					t.Fatal(err)
				}
				help = append(help, more...)
			}
		}
		known := regexp.MustCompile(`--[a-z][a-z0-9-]+`).FindAllString(string(help), -1)
		check := func(file, text, which string) {
			n := 0
			for line := range strings.Lines(text) {
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
		for file, which := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			check(file, string(b), which)
		}
		pods := 0 // of the chart, as deploy/cluster renders it
		charts, err := filepath.Glob("helm/testdata/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range charts {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, document := range strings.Split(string(b), "\n---\n") {
				if strings.Contains(document, "command: ["+program+"]") {
					pods++
					check(file, document, "^ *- --")
				}
			}
		}
		if pods < 2 {
			t.Errorf("the chart has %d pods with %s", pods, program)
		}
	}
}
