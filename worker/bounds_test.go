package worker_test

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/guest"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/audit"
	"github.com/rocwire/rocwire/worker/confine"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// greedyCommand is the first argument of a session process of this binary that takes what it can of the second card, and then of the machine's memory.
const greedyCommand = "__greedy"

const greed = 1 << 30 // bytes

func greedySession(args []string) (*worker.SessionProcess, error) {
	p, err := simbackend.Session(args, testLog())
	if err != nil {
		return nil, err
	}
	p.Open = func(worker.Session) (worker.Opened, error) {
		for n := uint64(1 << 40); n > 0; n /= 2 { // as much as it is given, to the byte
			q := binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 1, 0, 0, 0}, n)
			if _, err := unix.Write(worker.FirstFile+2, q); err != nil {
				return worker.Opened{}, err
			}
			if _, err := unix.Read(worker.FirstFile+2, make([]byte, 1)); err != nil {
				return worker.Opened{}, err
			}
		}
		mem, err := unix.Mmap(-1, 0, greed, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 1
		}
		if err == nil {
			time.Sleep(time.Hour) // nobody knows what it does
		}
		return worker.Opened{}, err
	}
	return p, nil
}

// TestGreedySession: a session process that has been taken over gets no more of a card than its quota, whatever its own account says, and ends when it has taken the
// machine's memory beyond its account. The record says why.
func TestGreedySession(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(record, testLog())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	const quota = 64 << 20
	w := serve(t, simbackend.Options{Cards: 2}, worker.Config{
		Command: []string{os.Args[0], greedyCommand}, Audit: log, HostMemory: 16 << 20, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(quota))},
		Confine: confine.Options{Cgroup: confine.NoCgroup}, // or the kernel is first, where it can
	})
	gone := make(chan hip.Error, 1)
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), Logf: t.Logf})
	defer c.Close()
	go func() {
		_, code := c.GetDeviceCount()
		gone <- code
	}()
	most := uint64(0)
	eventually(t, "the session has ended", func() bool {
		for _, s := range w.Sessions() {
			most = max(most, uint64(s.VRAM.Or(0)))
		}
		select {
		case code := <-gone:
			if code == hip.Success {
				t.Error("it is served")
			}
			return true
		default:
			return false
		}
	})
	if most < quota || most > quota+quota/2 {
		t.Errorf("it held %d bytes of a card, of %d that it may", most, quota)
	}
	eventually(t, "the record says why", func() bool {
		b, err := os.ReadFile(record)
		return err == nil && strings.Contains(string(b), `"ended"`) && strings.Contains(string(b), "that it may have")
	})
}

// TestGroupMemory: the kernel holds a session process to its memory by its control group, and the record says so. It is run on a kernel of its own, which has
// the controllers in version 2.
func TestGroupMemory(t *testing.T) {
	if !guest.Inside() {
		guest.Run(t, "^TestGroupMemory$", 1536)
		return
	}
	record := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(record, testLog())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cfg := worker.Config{Command: []string{os.Args[0], greedyCommand}, Audit: log, HostMemory: 16 << 20}
	w := serveWith(t, simbackend.Options{Cards: 2, MemoryBytes: 16 << 20}, cfg, func(b *worker.Backend) { b.Own = 64 << 20 })
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), ConnectTimeout: 2 * time.Minute, Logf: t.Logf})
	defer c.Close()
	if _, code := c.GetDeviceCount(); code == hip.Success {
		t.Error("it is served")
	}
	eventually(t, "the record says why", func() bool {
		b, err := os.ReadFile(record)
		return err == nil && strings.Contains(string(b), `"ended"`) && strings.Contains(string(b), "needed more memory than it may have")
	})
}

// TestSessionGroup: each session process is in a control group of its own, which goes with it.
func TestSessionGroup(t *testing.T) {
	var text lines
	w := serve(t, cards(1), worker.Config{Log: slog.New(slog.NewTextHandler(&text, nil))})
	groups := map[string]bool{}
	for range 2 {
		c := connect(t, w)
		_, code := c.GetDeviceCount()
		must(t, "GetDeviceCount", code)
	}
	if strings.Contains(text.String(), "no control groups") {
		t.Skipf("%s needs control groups of version 2, delegated:\n%s", t.Name(), text.String())
	}
	for _, s := range w.Sessions() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", s.PID))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if path, ok := strings.CutPrefix(line, "0::"); ok {
				groups[strings.TrimSpace(path)] = true
			}
		}
	}
	if len(groups) != 2 {
		t.Fatalf("groups of two sessions: %v", groups)
	}
	for _, s := range w.Sessions() {
		if err := w.KillSession(s.ID, "the test"); err != nil {
			t.Error(err)
		}
	}
	for g := range groups {
		if !strings.Contains(g, fmt.Sprintf("/rocwire-%d-", os.Getpid())) || !strings.Contains(g, "/session-") {
			t.Errorf("a session is in %s", g)
		}
		list, err := filepath.Glob("/sys/fs/cgroup" + g)
		more, err2 := filepath.Glob("/sys/fs/cgroup/*" + g)
		if err != nil || err2 != nil || len(list)+len(more) != 0 {
			t.Errorf("left: %v %v", list, more)
		}
	}
}
