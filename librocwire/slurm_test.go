//go:build linux

package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/slurm/slurmtest"
	"github.com/rocwire/rocwire/smiremote"
)

// TestSlurmSMI: Slurm's AutoDetect=rsmi finds the cards of a worker, and its energy plugin reads their power.
func TestSlurmSMI(t *testing.T) {
	t.Parallel() // the energy plugin reads twice a minute
	slurmtest.Need(t, "scontrol")
	if found, _ := filepath.Glob("/usr/lib/*/slurm-wlm/gpu_rsmi.so"); len(found) == 0 {
		t.Skip("there is no gpu_rsmi.so (Debian: apt-get install slurm-wlm-rsmi-plugin)")
	}
	at := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942", "--sim-cards", "2")
	// Debian's slurmctld 22.05 cannot load the energy plugin, which has a symbol of slurmd's: only the nodes are configured with it.
	c := slurmtest.New(t, slurmtest.Dir(t), slurmtest.Options{
		Nodes: []slurmtest.Node{{Name: "n1", GRES: "gpu:MI300X:2"}}, Conf: "AcctGatherNodeFreq=1\n", NodeConf: "AcctGatherEnergyType=acct_gather_energy/gpu\n",
		GRES: "AutoDetect=rsmi\n", Env: append(at, "LD_LIBRARY_PATH="+filepath.Join(built, "lib")),
	})

	// What slurmd tells of its cards before it begins.
	detect := exec.Command("slurmd", "-G", "-N", "n1")
	detect.Env = c.Env()
	out, err := detect.CombinedOutput()
	if err != nil {
		t.Fatalf("slurmd -G: %v\n%s", err, out)
	}
	wants(t, string(out), "2 GPU system device(s) detected")
	found := regexp.MustCompile(`Gres Name=gpu Type=MI300X Count=1 Index=\d+ ID=\d+ File=/dev/dri/renderD(\d+) `).FindAllStringSubmatch(string(out), -1)
	if len(found) != 2 || found[0][1] == found[1][1] {
		t.Errorf("devices %q:\n%s", found, out)
	}

	// What the controller hears of the node's power and energy.
	c.Start(t)
	want := powerOf(t, at)
	watts := regexp.MustCompile(`CurrentWatts=(\d+) AveWatts=(\d+)`)
	node := ""
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		b, err := c.Command("scontrol", "show", "node", "n1").CombinedOutput()
		if err != nil {
			t.Fatalf("scontrol: %v\n%s", err, b)
		}
		node = string(b)
		if m := watts.FindStringSubmatch(node); m != nil && m[2] != "0" {
			now, _ := strconv.ParseFloat(m[1], 64)
			if now < 0.8*want || now > 1.2*want {
				t.Errorf("Slurm says %s W now, the cards %v", m[1], want)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("in three minutes no energy:\n%s", node)
		}
	}
	wants(t, node, "Gres=gpu:MI300X:2")
}

// powerOf is what the cards of the worker take together, in watts.
func powerOf(t *testing.T, at []string) (sum float64) {
	t.Helper()
	_, host, _ := strings.Cut(at[0], "=")
	_, port, _ := strings.Cut(at[1], "=")
	c := smiremote.NewClient(smiremote.Options{Address: net.JoinHostPort(host, port), Name: "test"})
	defer c.Close()
	for i := range 2 {
		m, err := c.Metrics(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := m.Power.Average.Get()
		if !ok {
			w = m.Power.Socket.Or(0)
		}
		sum += float64(w)
	}
	if sum < 10 {
		t.Fatalf("the cards say that they take %v W", sum)
	}
	return sum
}
