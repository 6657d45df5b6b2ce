package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/workerlist"
)

// A worker that was found is connected to as the configuration file says of its address, which also names it; others as was asked for.
func TestResolve(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "workers:\n  alpha: {address: 'a:1', token-file: /t/alpha}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(k string) string { return map[string]string{dialing.FileVariable: config}[k] }
	over := dialing.Settings{TLS: dialing.TLS{CA: "/ca"}}
	found := []discovery.Target{{Address: "a:1", Labels: map[string]string{"name": "found"}}, {Address: "b:18515", Labels: map[string]string{"__meta_consul_node": "node-b"}}, {Address: "c:18515"}, {Address: "unix:/w"}}
	list, err := Resolve(found, over, getenv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range list {
		got = append(got, fmt.Sprint(w.Address, w.Shown, w.TokenFile, w.TLS.CA))
	}
	want := []string{"a:1alpha/t/alpha/ca", "b:18515node-b/ca", "c:18515/ca", "unix:/w/ca"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if list, err := Resolve([]discovery.Target{{Address: "a:0"}}, over, getenv); err == nil {
		t.Errorf("no address: %v", list)
	}
	if err := os.WriteFile(config, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := Resolve(found, over, getenv); err == nil {
		t.Errorf("no configuration: %v", list)
	}
}

func TestOf(t *testing.T) {
	list := Of([]dialing.Worker{{Name: "alpha", Address: workerlist.Address{Host: "a", Port: "1"}}, {Address: workerlist.Address{Host: "b", Port: "2"}}})
	if len(list) != 2 || list[0].Shown != "alpha" || list[1].Shown != "" || list[1].Address.Host != "b" {
		t.Errorf("%+v", list)
	}
}

// Two names for one address, in the configuration file or in what was found, are one worker.
func TestJoin(t *testing.T) {
	at := func(host, shown string) Worker {
		return Worker{Worker: dialing.Worker{Address: workerlist.Address{Host: host, Port: "1"}}, Shown: shown}
	}
	var got []string
	for _, w := range Join([]Worker{at("a", "alpha"), at("b", "beta"), at("a", "big")}, []Worker{at("b", "found"), at("c", "gamma"), at("c", "again")}) {
		got = append(got, w.Shown)
	}
	if want := []string{"alpha", "beta", "gamma"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}
