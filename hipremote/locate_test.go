package hipremote

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/tfconnect"
)

// TestLocate: the worker is where the locator says, which is asked when the first call needs it.
func TestLocate(t *testing.T) {
	asked := 0
	c := New(Config{Host: "192.0.2.1", Logf: t.Logf, Locate: func(context.Context) (string, string, error) {
		asked++
		return "127.0.0.1", "1", nil
	}})
	defer c.Close()
	if asked != 0 {
		t.Error("asked before it was needed")
	}
	var lines []string
	c.cfg.Logf = func(format string, _ ...any) { lines = append(lines, format) }
	if _, e := c.GetDeviceCount(); e != hip.ErrorNotInitialized || asked != 1 || len(lines) != 1 {
		t.Errorf("%v, asked %d times, %q", e, asked, lines)
	}
}

// TestLocateFails: without a worker a call fails, and says why once; Close ends the waiting for one.
func TestLocateFails(t *testing.T) {
	var said []string
	c := New(Config{Logf: func(_ string, a ...any) { said = append(said, a[0].(error).Error()) },
		Locate: func(context.Context) (string, string, error) { return "", "", tfconnect.ErrNotReady }})
	if _, e := c.GetDeviceCount(); e != hip.ErrorNotInitialized || len(said) != 1 || !strings.Contains(said[0], "no worker is ready") {
		t.Errorf("%v, %q", e, said)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}

	waits := make(chan struct{})
	c = New(Config{Logf: t.Logf, Locate: func(ctx context.Context) (string, string, error) {
		close(waits)
		<-ctx.Done()
		return "", "", ctx.Err()
	}})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, e := c.GetDeviceCount(); e != hip.ErrorNotInitialized {
			t.Error(e)
		}
	})
	<-waits
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// TestLocateFromEnv: an operator's URL goes before TF_WORKER_HOST, which is used when the operator cannot be asked.
func TestLocateFromEnv(t *testing.T) {
	t.Setenv(tfconnect.URLVariable, "nonsense")
	c := FromEnv(os.LookupEnv)
	c.Logf = t.Logf
	if _, _, err := c.Locate(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("without a host: %v", err)
	}
	t.Setenv("TF_WORKER_HOST", "gpu")
	c = FromEnv(os.LookupEnv)
	if host, port, err := c.Locate(t.Context()); err != nil || host != "gpu" || port != DefaultPort {
		t.Errorf("%s %s, %v", host, port, err)
	}
}
