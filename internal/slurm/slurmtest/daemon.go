package slurmtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// daemon starts one in the foreground, with a configuration. It ends with the test, and what it wrote is printed if that failed. It writes to a file: the
// children that it leaves would hold a pipe.
func (c *Cluster) daemon(t *testing.T, conf, name string, args ...string) {
	t.Helper()
	log, err := os.CreateTemp(c.Dir, name+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	d := exec.Command(name, args...)
	d.Stdout, d.Stderr, d.Env = log, log, append(c.Env(), "SLURM_CONF="+c.file(conf))
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Process.Signal(syscall.SIGINT)
		ended := make(chan error, 1)
		go func() { ended <- d.Wait() }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = d.Process.Kill()
			<-ended
		}
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("%s %v:\n%s", name, args, b[max(0, len(b)-6000):])
		}
	})
}
