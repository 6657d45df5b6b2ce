package dra

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/deploy/cluster"
)

var (
	fleetSizes = flag.String("fleet", "9", "how many workers, with 8 cards each, TestFleet has")
	fleetLooks = flag.Duration("interval", time.Second, "between two looks of TestFleet's publisher")
	fleetNodes = flag.Int("nodes", 2, "how many nodes TestFleet has")
)

// TestFleet: bench/fleet has rocwire-dra publish the cards of its workers and claims them. With more of them, and -v, that is what docs/scale.md says:
//
//	go test ./dra -run TestFleet -v -timeout 2h -fleet 10,30,100,300,1000 -nodes 100 -interval 15s
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds what it measures: not with -short")
	}
	c := cluster.Start(t, cluster.Options{Scheduler: true})
	s := &site{Cluster: c, dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", s.dir+"/", "./bench/fleet", "./cmd/rocwire-dra")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: rocwire}\n---\n"+read(t, top+"/deploy/dra/kubernetes.yaml"))
	for i := range *fleetNodes {
		s.Node(t, fmt.Sprint("node-", i), nil)
	}
	args := []string{"--workers", *fleetSizes, "--only", "cluster", "--interval", fleetLooks.String(), "--clients", "0", "--push=false", "--for", "2h", "--bin", s.dir, "--kubeconfig", c.Kubeconfig}
	for name, pid := range c.Processes {
		args = append(args, "--beside", fmt.Sprintf("%s=%d", name, pid))
	}
	var said strings.Builder
	cmd := exec.CommandContext(t.Context(), filepath.Join(s.dir, "fleet"), args...)
	cmd.Stderr, cmd.SysProcAttr = &said, &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // it ends what it has started
	if testing.Verbose() {
		cmd.Stderr = t.Output()
	}
	out, err := cmd.Output()
	t.Logf("\n%s", out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	// All slices are written once; then none, while nothing changes; and one when a card does.
	for n := range strings.SplitSeq(*fleetSizes, ",") {
		for _, row := range []string{"all slices of a new fleet", "each look, nothing has changed", "a card has a trouble", "a claim of any card", "a claim of a card of one worker"} {
			if !strings.Contains(string(out), row) {
				t.Errorf("there is nothing of %s", row)
			}
		}
		if strings.Count(string(out), fmt.Sprintf("; of %s slices 1 written", n)) != 1 {
			t.Errorf("with %s workers one slice is to be written for one card that has a trouble; what is said:\n%s", n, out)
		}
	}
}
