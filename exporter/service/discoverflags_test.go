package service

import (
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/discovery"
)

func TestDiscoveryFlags(t *testing.T) {
	var o discovery.Options
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(new(strings.Builder))
	discoveryFlags(fs, &o)
	if err := fs.Parse([]string{"--discover-file", "a.json", "--discover-file=b*.yml", "--discover-url", "http://x/sd", "--discover-url=dns:_rocwire._tcp.x", "--discover-interval", "5s"}); err != nil {
		t.Fatal(err)
	}
	want := discovery.Options{Sources: []string{"a.json", "b*.yml", "http://x/sd", "dns:_rocwire._tcp.x"}, Interval: 5 * time.Second}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v", o)
	}
	for _, bad := range []string{"--discover-file=[", "--discover-url=ftp://x", "--discover-url=http:sd"} {
		if fs.Parse([]string{bad}) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(discoveryUsage(), "--"+f.Name+" ") {
			t.Errorf("the help lacks --%s", f.Name)
		}
	})
}
