package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/worker"
)

// TestKillSession: a session that somebody ends is gone with all it held when the call returns, whatever it was doing, and no other
// notices.
func TestKillSession(t *testing.T) {
	log := &lines{}
	onBackends(t, worker.Config{Log: slog.New(slog.NewTextHandler(log, nil))}, func(t *testing.T, w *worker.Server, rocm bool) { killSession(t, w, rocm, log) })
}

func killSession(t *testing.T, w *worker.Server, rocm bool, log *lines) {
	other := connect(t, w)
	q, e := other.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	before := w.Sessions()
	if len(before) != 1 {
		t.Fatalf("%+v", before)
	}
	for _, how := range []string{"idle", "kernel", "stopped"} {
		t.Run(how, func(t *testing.T) {
			client := &lines{}
			victim := connectWith(t, w, hipremote.Config{Logf: client.logf})
			p, e := victim.Malloc(main0, 64<<20)
			must(t, "Malloc", e)
			s := w.Sessions()[1]
			waiting := make(chan hip.Error, 1)
			switch how {
			case "kernel": // its line is busy with something that never ends
				must(t, "launch", launch(victim, kernel(t, victim, "spin", "spin_forever"), 0, p))
				go func() { waiting <- victim.DeviceSynchronize(main0) }()
			case "stopped": // its process does not even hear what it is told
				stop(t, int(s.PID))
				go func() { waiting <- victim.DeviceSynchronize(main0) }()
			default:
				waiting <- hip.ErrorNotInitialized
			}
			if err := w.KillSession(s.ID, "the test"); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(syscall.Kill(int(s.PID), 0), syscall.ESRCH) {
				t.Errorf("process %d is still there", s.PID)
			}
			if now := w.Sessions(); len(now) != 1 || now[0].ID != before[0].ID {
				t.Errorf("sessions: %+v", now)
			}
			if !rocm { // which has no management data here
				m, err := w.Source().Metrics(context.Background(), 0)
				if err != nil || m.VRAM.Used.Or(0) >= 64<<20 {
					t.Errorf("memory in use: %v, %v", m.VRAM.Used, err)
				}
			}
			if e := <-waiting; e == hip.Success {
				t.Error("the client's wait ended well")
			}
			if e := victim.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
				t.Errorf("the client's next call: %v", e)
			}
			// By its process, or when it asks what has become of that.
			if bySession := client.has("ended by the worker's operator"); !client.has("the worker has ended it: ended on demand") && (!bySession || how == "stopped") {
				t.Errorf("the client is not told why:\n%s", client)
			}
			if err := w.KillSession(s.ID, "the test"); !errors.Is(err, smi.ErrNotFound) {
				t.Errorf("once more: %v", err)
			}
			for _, want := range []string{"session is ended on demand", `by="the test"`, `reason="ended on demand"`} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log does not say %s:\n%s", want, log.String())
				}
			}
		})
	}
	must(t, "Memset", other.Memset(main0, q, 1, 1<<20))
	for _, id := range []string{"", "x", "-1", "999999", "99999999999999999999999"} {
		if err := w.KillSession(id, ""); !errors.Is(err, smi.ErrNotFound) {
			t.Errorf("session %q: %v", id, err)
		}
	}
	if strings.Contains(log.String(), "session process died") {
		t.Errorf("an ended session counts as a crash:\n%s", log.String())
	}
}

// stop stops a process and returns when none of its threads does anything any more: the signal is only sent when kill returns.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every thread is stopped", func() bool {
		stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(stats) == 0 {
			t.Fatalf("threads of %d: %q, %v", pid, stats, err)
		}
		for _, name := range stats {
			b, err := os.ReadFile(name)
			if err != nil {
				return false
			}
			if _, after, ok := strings.Cut(string(b), ") "); !ok || !strings.HasPrefix(after, "T") {
				return false
			}
		}
		return true
	})
}

// manager is a management client of w.
func manager(t *testing.T, w *worker.Server) *smiremote.Client {
	t.Helper()
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr().String()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestMayManage: what a management client may do, over its connection.
func TestMayManage(t *testing.T) {
	setting := smi.Setting{PerfLevel: "high"}
	t.Run("by default", func(t *testing.T) {
		cfg, path := config(), filepath.Join(t.TempDir(), "w.sock")
		cfg.Listen, cfg.Socket = "127.0.0.1", worker.Socket{Path: path}
		w := serve(t, cards(1), cfg)
		c := manager(t, w)
		for what, err := range map[string]error{"over the connection": c.Set(t.Context(), 0, setting), "in the process": w.Source().Set(t.Context(), 0, setting)} {
			if !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "--smi-allow-set") {
				t.Errorf("Set %s: %v", what, err)
			}
		}
		connectWith(t, w, hipremote.Config{}).DeviceSynchronize(main0)
		id := w.Sessions()[0].ID
		if err := c.KillSession(t.Context(), id); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), "Unix socket") {
			t.Errorf("whoever can reach loopback ends sessions: %v", err)
		}
		c = smiremote.NewClient(smiremote.Options{Address: "unix:" + path})
		t.Cleanup(func() { _ = c.Close() })
		if err := c.KillSession(t.Context(), id); err != nil { // of the worker's own user
			t.Error(err)
		}
		if s := w.Sessions(); len(s) != 0 {
			t.Errorf("%+v", s)
		}
		if err := c.KillSession(t.Context(), id); !errors.Is(err, smi.ErrNotFound) {
			t.Errorf("once more: %v", err)
		}
	})
	t.Run("allowed", func(t *testing.T) {
		w := serve(t, cards(1), worker.Config{AllowSet: true})
		if err := manager(t, w).Set(t.Context(), 0, setting); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), `"set"`) {
			t.Errorf("somebody of whom nothing is known: %v", err)
		}
		w = serve(t, cards(1), worker.Config{AllowSet: true, Insecure: true})
		if err := manager(t, w).Set(t.Context(), 0, setting); errors.Is(err, smi.ErrNoPermission) {
			t.Errorf("where nobody is asked: %v", err)
		}
	})
	t.Run("without a source", func(t *testing.T) {
		w := serveWith(t, cards(1), config(), func(b *worker.Backend) { b.Source, b.NoSource = nil, "nobody looked" })
		c := manager(t, w)
		_, err1 := c.Devices(t.Context())
		_, err2 := smi.TakeSnapshot(t.Context(), c)
		for _, err := range []error{err1, err2} {
			if !errors.Is(err, smi.ErrNotSupported) || !strings.Contains(err.Error(), "nobody looked") {
				t.Errorf("cards: %v", err)
			}
		}
		_, e := connect(t, w).Malloc(main0, 1<<20)
		must(t, "Malloc", e)
		if l, err := c.Sessions(t.Context()); err != nil || len(l.Sessions) != 1 {
			t.Errorf("sessions: %+v, %v", l, err)
		}
	})
}
