// Package slurmtest runs Debian's Slurm for a test: munged, slurmctld and a slurmd for every node, all on this machine and below one directory.
package slurmtest

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/freeport"
)

// Options are what a test wants of Slurm beyond what every one has.
type Options struct {
	// Nodes are to be there, each on this machine.
	Nodes []Node
	// Conf has more lines for slurm.conf.
	Conf string
	// NodeConf has lines for the nodes' slurm.conf that the controller's is without. The files may differ, then.
	NodeConf string
	// GRES is gres.conf; without it there is the file that is below the directory already.
	GRES string
	// Env is what the daemons have besides the environment of the test.
	Env []string
}

// Node is one of Slurm's.
type Node struct {
	Name string
	// GRES is what slurm.conf says that it has, as in gpu:mi210:1,gpu:mi300x:1.
	GRES string
}

// Cluster is a Slurm whose files are below a directory.
type Cluster struct {
	Dir string
	o   Options
}

// Need skips the test where Slurm cannot be run: its daemons want root, and the programs must be there.
func Need(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons run as root")
	}
	for _, p := range append([]string{"munged", "slurmctld", "slurmd"}, programs...) {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s (Debian: apt-get install slurmctld slurmd slurm-client munge)", p)
		}
	}
}

// Dir makes a directory for a cluster, which goes with the test. Its name is short enough for sockets, and every user may look into it.
func Dir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rocwire-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// New writes Slurm's files below a directory. Its programs can be called with Env from then on, and Start starts the daemons.
func New(t *testing.T, dir string, o Options) *Cluster {
	t.Helper()
	c := &Cluster{Dir: dir, o: o}
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	conf := c.conf(t)
	c.write(t, "munge.key", string(key), 0o400)
	c.write(t, "controller.conf", conf, 0o644)
	c.write(t, "slurm.conf", conf+o.NodeConf, 0o644)
	if o.GRES != "" {
		c.write(t, "gres.conf", o.GRES, 0o644)
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(c.file(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Env is the environment of Slurm's programs on a node.
func (c *Cluster) Env() []string {
	return append(append(os.Environ(), c.o.Env...), "SLURM_CONF="+c.file("slurm.conf"))
}

// Command is a program of Slurm's users and operators, to be run below the cluster's directory. It asks the controller.
func (c *Cluster) Command(name string, args ...string) *exec.Cmd {
	e := exec.Command(name, args...)
	e.Env, e.Dir = append(os.Environ(), "SLURM_CONF="+c.file("controller.conf")), c.Dir
	return e
}

// Start starts the daemons, which end with the test.
func (c *Cluster) Start(t *testing.T) {
	t.Helper()
	c.daemon(t, "slurm.conf", "munged", "--foreground", "--force", "--key-file="+c.file("munge.key"), "--socket="+c.file("munge.sock"),
		"--pid-file="+c.file("munge.pid"), "--log-file="+c.file("munge.log"), "--seed-file="+c.file("munge.seed"))
	c.Until(t, "munged listens", func() bool { _, err := os.Stat(c.file("munge.sock")); return err == nil })
	c.daemon(t, "controller.conf", "slurmctld", "-D", "-c", "-f", c.file("controller.conf"))
	want := ""
	for _, n := range c.o.Nodes {
		c.daemon(t, "slurm.conf", "slurmd", "-D", "-N", n.Name, "-f", c.file("slurm.conf"))
		want += n.Name + " idle\n"
	}
	c.Until(t, "all nodes are there", func() bool {
		out, _ := c.Command("sinfo", "-h", "-N", "-o", "%N %t").Output() // the controller may not be there yet
		return string(out) == want
	})
}

// Until waits for something, and fails the test after two minutes, with what the programs wrote to the file errors.
func (c *Cluster) Until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			b, _ := os.ReadFile(c.file("errors"))
			t.Fatalf("in two minutes not: %s\n%s", what, b)
		}
	}
}

func (c *Cluster) file(name string) string { return filepath.Join(c.Dir, name) }

func (c *Cluster) write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(c.file(name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// conf is the slurm.conf of the controller.
func (c *Cluster) conf(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(host, ".")
	port := func() string {
		_, port, _ := strings.Cut(freeport.Later(t), ":")
		return port
	}
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=test
SlurmctldHost=%[2]s(127.0.0.1)
SlurmctldPort=%[3]s
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.sock
CredType=cred/munge
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool/%%n
SlurmctldPidFile=%[1]s/ctld.pid
SlurmdPidFile=%[1]s/%%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
KillWait=2
`, c.Dir, short, port())
	if c.o.NodeConf != "" {
		b.WriteString("DebugFlags=NO_CONF_HASH\n")
	}
	b.WriteString(c.o.Conf)
	var names []string
	for _, n := range c.o.Nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=4 RealMemory=100 Gres=%s\n", n.Name, short, port(), n.GRES)
		names = append(names, n.Name)
	}
	fmt.Fprintf(&b, "PartitionName=all Nodes=%s Default=YES MaxTime=60 State=UP\n", strings.Join(names, ","))
	return b.String()
}
