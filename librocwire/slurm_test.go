//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smiremote"
)

// slurmSMI is one node of Slurm whose slurmd has Debian's own plugins for AMD's cards, and our librocm_smi64.so behind them.
type slurmSMI struct {
	dir string
	env []string // of slurmd: a worker's cards
}

// TestSlurmSMI: Slurm's AutoDetect=rsmi finds the cards of a worker, and its energy plugin reads their power.
func TestSlurmSMI(t *testing.T) {
	t.Parallel() // the energy plugin reads twice a minute
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons run as root")
	}
	for _, p := range []string{"munged", "slurmctld", "slurmd", "scontrol"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s (Debian: apt-get install slurmctld slurmd slurm-client munge)", p)
		}
	}
	if found, _ := filepath.Glob("/usr/lib/*/slurm-wlm/gpu_rsmi.so"); len(found) == 0 {
		t.Skip("there is no gpu_rsmi.so (Debian: apt-get install slurm-wlm-rsmi-plugin)")
	}
	at := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942", "--sim-cards", "2")
	dir, err := os.MkdirTemp("", "rocwire-slurm-") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &slurmSMI{dir: dir, env: append(os.Environ(), append(at, "LD_LIBRARY_PATH="+filepath.Join(built, "lib"), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))...)}
	s.configure(t)

	// What slurmd tells of its cards before it begins.
	detect := exec.Command("slurmd", "-G", "-N", "n1")
	detect.Env = s.env
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
	s.begin(t)
	want := s.power(t, at)
	watts := regexp.MustCompile(`CurrentWatts=(\d+) AveWatts=(\d+)`)
	node := ""
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		show := exec.Command("scontrol", "show", "node", "n1")
		show.Env = append(s.env, "SLURM_CONF="+filepath.Join(dir, "controller.conf"))
		b, _ := show.CombinedOutput() // it may not be there yet
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

// power is what the cards of the worker take together.
func (s *slurmSMI) power(t *testing.T, at []string) (sum float64) {
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

// configure writes Slurm's files. Debian's slurmctld 22.05 cannot load the energy plugin, which has a symbol of slurmd's: its configuration is another one.
func (s *slurmSMI) configure(t *testing.T) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(host, ".")
	_, ctld, _ := strings.Cut(freeport.Later(t), ":")
	_, slurmd, _ := strings.Cut(freeport.Later(t), ":")
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[2]s(127.0.0.1)
SlurmctldPort=%[3]s
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.sock
CredType=cred/munge
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
SlurmctldPidFile=%[1]s/ctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
SlurmdParameters=config_overrides
DebugFlags=NO_CONF_HASH
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
AcctGatherNodeFreq=1
ReturnToService=2
NodeName=n1 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[4]s CPUs=4 RealMemory=100 Gres=gpu:MI300X:2
PartitionName=all Nodes=n1 Default=YES MaxTime=60 State=UP
`, s.dir, short, ctld, slurmd)
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	for name, text := range map[string]string{
		"controller.conf": conf, "slurm.conf": conf + "AcctGatherEnergyType=acct_gather_energy/gpu\n", "gres.conf": "AutoDetect=rsmi\n", "munge.key": string(key),
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// begin starts Slurm's daemons, which end with the test.
func (s *slurmSMI) begin(t *testing.T) {
	t.Helper()
	file := func(name string) string { return filepath.Join(s.dir, name) }
	s.daemon(t, nil, "munged", "--foreground", "--force", "--key-file="+file("munge.key"), "--socket="+file("munge.sock"), "--pid-file="+file("munge.pid"), "--log-file="+file("munge.log"), "--seed-file="+file("munge.seed"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(file("munge.sock")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("munged does not listen")
		}
	}
	s.daemon(t, []string{"SLURM_CONF=" + file("controller.conf")}, "slurmctld", "-D", "-c", "-f", file("controller.conf"))
	s.daemon(t, nil, "slurmd", "-D", "-N", "n1")
}

// daemon starts one in the foreground.
func (s *slurmSMI) daemon(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	var log lockedBuffer
	ctx, cancel := context.WithCancel(context.Background())
	d := exec.CommandContext(ctx, name, args...)
	d.Stdout, d.Stderr, d.Env = &log, &log, append(s.env, env...)
	d.Cancel, d.WaitDelay = func() error { return d.Process.Signal(os.Interrupt) }, 20*time.Second
	if err := d.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = d.Wait() // by a signal
		if t.Failed() {
			t.Logf("%s %v:\n%s", name, args, log.String())
		}
	})
}

// lockedBuffer is a buffer that may be read while it is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
