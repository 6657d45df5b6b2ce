//go:build ignore

// Command modproxy writes this commit as a version of the module into a folder that GOPROXY may name.
//
//	go run scripts/modproxy.go DIRECTORY VERSION
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if err := write(os.Args[1], module.Version{Path: "github.com/rocwire/rocwire", Version: os.Args[2]}); err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
}

func write(dir string, m module.Version) error {
	dir = filepath.Join(dir, m.Path, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	info := fmt.Sprintf("{%q: %q, %q: %q}", "Version", m.Version, "Time", time.Unix(0, 0).UTC().Format(time.RFC3339))
	for name, b := range map[string][]byte{".mod": mod, ".info": []byte(info), "list": []byte(m.Version)} {
		if name != "list" {
			name = m.Version + name
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, m.Version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromVCS(f, m, ".", "HEAD", ""), f.Close())
}
