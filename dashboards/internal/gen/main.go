// Command gen writes the dashboards' JSON files into the working directory.
package main

import (
	"fmt"
	"os"

	"github.com/rocwire/rocwire/dashboards"
	"github.com/rocwire/rocwire/internal/genfile"
)

func main() {
	files, err := dashboards.Files()
	for _, f := range files {
		if err == nil {
			err = genfile.Write(f.Name, string(f.JSON))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
