//go:build ignore

// Command sbom lists the modules that Go programs and libraries were made of, as a CycloneDX document.
//
//	go run scripts/sbom.go VERSION FILE...
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

type component struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	Version string     `json:"version"`
	PURL    string     `json:"purl,omitempty"`
	Within  []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version string, files []string) error {
	all := map[string]*component{}
	add := func(path, version, in string) {
		key := path + "@" + version
		c := all[key]
		if c == nil {
			c = &component{Type: "library", Name: path, Version: version, PURL: "pkg:golang/" + key}
			all[key] = c
		}
		c.Within = append(c.Within, property{"rocwire:in", in})
	}
	for _, f := range files {
		info, err := buildinfo.ReadFile(f)
		if err != nil {
			return err
		}
		in := filepath.Base(f)
		add("std", info.GoVersion, in)
		for _, d := range info.Deps {
			add(d.Path, d.Version, in)
		}
	}
	list := make([]*component, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[key])
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"component": component{Type: "application", Name: "rocwire", Version: version}},
		"components": list,
	})
}
