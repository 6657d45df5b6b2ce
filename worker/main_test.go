package worker_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/guest"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// The test binary is its own session process.
func TestMain(m *testing.M) {
	open := map[string]func(args []string) (*worker.SessionProcess, error){hostileCommand: hostileSession, greedyCommand: greedySession, quitterCommand: quitterSession, rocmCommand: rocmSession}[append(os.Args, "")[1]]
	if open != nil || workertest.Session() {
		if open == nil {
			open = func(args []string) (*worker.SessionProcess, error) { return simbackend.Session(args, testLog()) }
		}
		p, err := open(os.Args[2:])
		if err == nil {
			tokenless(p)
		}
		workertest.Run(p, err)
	}
	if len(os.Args) > 1 && os.Args[1] == "__client" {
		client(os.Args[2:])
		os.Exit(0)
	}
	guest.Main(m)
	code := m.Run()
	_ = os.RemoveAll(hsaFolder)
	os.Exit(code)
}

// tokenless makes a session process that gets its client's token fail: it is the parent's.
func tokenless(p *worker.SessionProcess) {
	open := p.Open
	p.Open = func(s worker.Session) (worker.Opened, error) {
		if s.Hello.Token != "" {
			panic("a session process was given a token")
		}
		return open(s)
	}
}

func testLog() *slog.Logger {
	if os.Getenv("TF_DEBUG") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.DiscardHandler)
}

// serve starts a worker with simulated cards.
func serve(t *testing.T, o simbackend.Options, cfg worker.Config) *worker.Server {
	t.Helper()
	return serveWith(t, o, cfg, func(*worker.Backend) {})
}

// serveWith does so after changing the backend.
func serveWith(t *testing.T, o simbackend.Options, cfg worker.Config, change func(*worker.Backend)) *worker.Server {
	t.Helper()
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 1 << 30
	}
	b, err := simbackend.New(o, testLog())
	if err != nil {
		t.Fatal(err)
	}
	src := b.Source
	t.Cleanup(func() { // once the worker has ended
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	change(&b)
	cfg.Backend = b
	if cfg.Log == nil {
		cfg.Log = testLog()
	}
	return workertest.Start(t, cfg)
}

// connect makes a client of w.
func connect(t *testing.T, w *worker.Server) *hipremote.Client {
	t.Helper()
	return connectWith(t, w, hipremote.Config{})
}

func connectWith(t *testing.T, w *worker.Server, cfg hipremote.Config) *hipremote.Client {
	t.Helper()
	cfg.Host, cfg.Port = w.Addr().IP.String(), fmt.Sprint(w.Addr().Port)
	cfg.ConnectTimeout, cfg.IOTimeout, cfg.Debug = time.Minute, time.Minute, os.Getenv("TF_DEBUG") != ""
	if cfg.Logf == nil {
		cfg.Logf = t.Logf
	}
	c := hipremote.New(cfg)
	t.Cleanup(func() {
		id := c.Session()
		_ = c.Close()
		eventually(t, "the session is gone", func() bool {
			for _, s := range w.Sessions() {
				if s.ID == fmt.Sprint(id) {
					return false
				}
			}
			return true
		})
	})
	return c
}

func must(t *testing.T, what string, e hip.Error) {
	t.Helper()
	if e != hip.Success {
		t.Fatalf("%s: %v", what, e)
	}
}

// eventually waits until f holds. Tests that wait this way say nothing about how long something takes.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
