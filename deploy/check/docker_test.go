package check

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/solver/pb"
	"github.com/opencontainers/go-digest"
)

// TestContainerFiles: BuildKit finds nothing to say about them, what they copy from the
// repository is there, and images have fixed versions and do not run as root without
// need.
func TestContainerFiles(t *testing.T) {
	files, err := filepath.Glob("../docker/*.Dockerfile")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source := llb.NewSourceMap(nil, filepath.Base(name), "Dockerfile", b)
			source.Definition = &llb.Definition{} // the file comes from nowhere
			lint, err := dockerfile2llb.DockerfileLint(context.Background(), b, dockerfile2llb.ConvertOpt{
				SourceMap:    source,
				MetaResolver: images{},
				Warn:         func(rule, _, _, message string, _ []parser.Range) { t.Errorf("%s: %s", rule, message) },
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range lint.Warnings {
				t.Errorf("line %v: %s: %s", lines(w.Location), w.RuleName, w.Detail)
			}
			ast, err := parser.Parse(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			stages, _, err := instructions.Parse(ast.AST, linter.New(&linter.Config{}))
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, s := range stages {
				if !names[s.BaseName] && s.BaseName != "${ROCM}" && !strings.Contains(s.BaseName, ":") {
					t.Errorf("image %s has no fixed version", s.BaseName)
				}
				names[s.Name] = s.Name != ""
				for _, c := range s.Commands {
					copied, ok := c.(*instructions.CopyCommand)
					if !ok || copied.From != "" {
						continue
					}
					for _, src := range copied.SourcePaths {
						if found, _ := filepath.Glob(filepath.Join("../..", src)); len(found) == 0 {
							t.Errorf("it copies %s, which is not there", src)
						}
					}
				}
			}
		})
	}
}

// images are all there, and say nothing about themselves: nothing is fetched.
type images struct{}

func (images) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, digest.FromString(ref), []byte(`{"architecture": "amd64", "os": "linux", "config": {}}`), nil
}

func lines(l *pb.Location) (list []int32) {
	if l != nil {
		for _, r := range l.Ranges {
			list = append(list, r.Start.Line)
		}
	}
	return list
}
