package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose: compose's own loader takes the file, and what it mounts and builds from is
// there.
func TestCompose(t *testing.T) {
	o, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithWorkingDirectory(".."), cli.WithProfiles([]string{"*"}), cli.WithName("rocwire"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"worker", "exporter", "prometheus", "grafana", "greptimedb", "load"} {
		if _, ok := p.Services[want]; !ok {
			t.Errorf("there is no service %s", want)
		}
	}
	for name, s := range p.Services {
		if b := s.Build; b != nil {
			if _, err := os.Stat(filepath.Join(b.Context, b.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "latest" {
			t.Errorf("%s: image %q has no fixed version", name, s.Image)
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s on %q", name, port.Published, port.HostIP)
			}
		}
		if s.Restart == "" && name != "load" {
			t.Errorf("%s is not restarted", name)
		}
	}
}
