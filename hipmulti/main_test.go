package hipmulti

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// The test binary is its own session process.
func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	os.Exit(m.Run())
}

// serve starts a worker with simulated cards.
func serve(t *testing.T, cards int) *worker.Server {
	t.Helper()
	return workertest.Simulated(t, simbackend.Options{Arch: "gfx942", Cards: cards, MemoryBytes: 1 << 30})
}

// config is how to reach a worker.
func config(t *testing.T, w *worker.Server) hipremote.Config {
	return hipremote.Config{
		Host: w.Addr().IP.String(), Port: fmt.Sprint(w.Addr().Port), ConnectTimeout: time.Minute, IOTimeout: time.Minute,
		Logf: func(string, ...any) {},
	}
}

// join is one runtime over workers.
func join(t *testing.T, change func(*hipremote.Config), ws ...*worker.Server) *Runtime {
	t.Helper()
	var configs []hipremote.Config
	for _, w := range ws {
		c := config(t, w)
		if change != nil {
			change(&c)
		}
		configs = append(configs, c)
	}
	r := New(configs)
	t.Cleanup(func() {
		ids := make([]string, len(ws))
		for i, m := range r.workers {
			ids[i] = fmt.Sprint(m.(*hipremote.Client).Session())
		}
		if err := r.Close(); err != nil {
			t.Log(err) // a worker that a test has ended
		}
		for i, w := range ws { // what it held is there for the next
			for deadline := time.Now().Add(time.Minute); slices.ContainsFunc(w.Sessions(), func(s smi.Session) bool { return s.ID == ids[i] }); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the session is still there")
				}
			}
		}
	})
	return r
}

func must(t *testing.T, what string, code hip.Error) {
	t.Helper()
	if code != hip.Success {
		t.Fatalf("%s: %v", what, code)
	}
}

func is(t *testing.T, what string, got, want hip.Error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
