// Command gen writes the dashboards' JSON files into the working directory, and them and the rules there into the Helm chart, which must have its own:
// an archive of a Go module leaves links out.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rocwire/rocwire/dashboards"
	"github.com/rocwire/rocwire/internal/genfile"
)

const chart = "../deploy/helm/rocwire"

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write() error {
	files, err := dashboards.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, dir := range []string{".", filepath.Join(chart, "dashboards")} {
			if err := genfile.Write(filepath.Join(dir, f.Name), string(f.JSON)); err != nil {
				return err
			}
		}
	}
	rules, err := filepath.Glob("rules/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range rules {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := genfile.Write(filepath.Join(chart, name), string(b)); err != nil {
			return err
		}
	}
	return nil
}
