// Command platforms type-checks and vets packages with their tests, and what they use of
// this module, as they are on other systems and processors without C. It prints what it
// finds and ends with status 1 then.
//
//	platforms GOOS/GOARCH PACKAGE...
//
// It reads everything from its source. go vet finds the same, but compiles for each
// platform whatever is below, which takes twenty times as long.
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

// notInGo are analyzers that come with a later Go's vet.
var notInGo = []string{"scannererr", "sqlrowserr"}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: platforms GOOS/GOARCH PACKAGE...")
	}
	found, err := check(".", os.Args[1], os.Args[2:])
	if err != nil {
		log.Fatalf("platforms: %s: %v", os.Args[1], err)
	}
	for _, f := range found {
		fmt.Printf("%s: %s\n", os.Args[1], f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with packages of a folder's module on a platform.
func check(folder, platform string, patterns []string) ([]string, error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("not GOOS/GOARCH")
	}
	list, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule | packages.NeedForTest,
		Tests: true,
		Dir:   folder,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{} // once, although it may be in a package and in that with its tests
	ours := map[string]*packages.Package{}
	packages.Visit(list, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found[e.Error()] = true
		}
		if p.Module != nil && p.Module.Main && !strings.HasSuffix(p.PkgPath, ".test") && (ours[p.PkgPath] == nil || p.ForTest == p.PkgPath) {
			ours[p.PkgPath] = p
		}
	})
	if len(found) > 0 { // vet relies on types
		return slices.Sorted(maps.Keys(found)), nil
	}
	if len(ours) < len(patterns) {
		return nil, fmt.Errorf("only %d packages", len(ours))
	}
	suite := slices.DeleteFunc(slices.Clone(vet.Suite), func(a *analysis.Analyzer) bool { return slices.Contains(notInGo, a.Name) })
	graph, err := checker.Analyze(suite, slices.Collect(maps.Values(ours)), nil)
	if err != nil {
		return nil, err
	}
	for act := range graph.All() {
		if act.Err != nil {
			found[fmt.Sprintf("%v: %v", act, act.Err)] = true
		}
		if !act.IsRoot {
			continue
		}
		for _, d := range act.Diagnostics {
			found[fmt.Sprintf("%v: %s", act.Package.Fset.Position(d.Pos), d.Message)] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
