package hipremote

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// mirror is a worker that keeps host memory that is exposed, and looks at it when a kernel is launched, whose one argument is the number of a word there.
type mirror struct {
	t     *testing.T
	mu    sync.Mutex
	mem   map[hip.Ptr][]byte
	words []byte // what a launch looks at
	said  []message
	seen  int // launches
}

// message is one that came behind so many launches.
type message struct {
	op       uint16
	launches int
}

func word(i uint64) uint64 { return i*0x9e3779b97f4a7c15 + 1 }

func (m *mirror) handle(_ *wire.ServerConn, r *wire.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r.Op {
	case hip.OpGetDeviceCount:
		_ = r.Reply(0, []byte{1, 0, 0, 0})
		return
	case hiprpc.OpHostExpose:
		var q hiprpc.Host
		if !q.Decode(r.Fixed) {
			m.t.Error("expose")
		}
		m.words = make([]byte, q.Size)
		m.mem[q.Addr] = m.words
	case hiprpc.OpHostPush:
		d := wire.NewDec(r.Fixed)
		mem := m.mem[hip.Ptr(d.U64())]
		diff := make([]byte, r.BulkLen)
		if r.ReadBulk(diff) != nil || hiprpc.ApplyDiff(mem, mem, diff, int(d.U64())) != nil {
			m.t.Error("push")
		}
	case hiprpc.OpHostPull:
		d := wire.NewDec(r.Fixed)
		e := wire.Enc{}
		e.U64(uint64(len(m.mem[hip.Ptr(d.U64())])))
		_ = r.Reply(0, e.B)
		return
	case hip.OpLaunchKernel:
		var l hip.Launch
		if _, ok := hiprpc.DecodeLaunch(r.Fixed, &l); !ok || len(l.Args) != 8 {
			m.t.Error("launch")
			break
		}
		i := binary.LittleEndian.Uint64(l.Args)
		if i != uint64(m.seen) {
			m.t.Errorf("launch %d comes behind %d others", i, m.seen)
		}
		m.seen++
		if got := binary.LittleEndian.Uint64(m.words[8*i:]); got != word(i) {
			m.t.Errorf("launch %d: the program wrote %#x before it, the worker has %#x", i, word(i), got)
		}
	case hip.OpDeviceSynchronize, hip.OpStreamQuery, hip.OpMemsetAsync:
		m.said = append(m.said, message{r.Op, m.seen})
	}
	_ = r.Reply(0, nil)
}

// launches is how many have come.
func (m *mirror) launches() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen
}

func mirrored(t *testing.T, bytes uint64) (*mirror, *Client, hip.Ptr) {
	t.Helper()
	m := &mirror{t: t, mem: map[hip.Ptr][]byte{}}
	host, port := server(t, choosing(t, firstOffered), m.handle)
	c := New(Config{Host: host, Port: port, Logf: t.Logf})
	t.Cleanup(func() { _ = c.Close() })
	p, code := c.HostMalloc(hip.Thread{}, bytes, 0)
	if code == hip.Success {
		_, code = c.HostGetDevicePointer(hip.Thread{}, p, 0)
	}
	if code != hip.Success {
		t.Fatal(code)
	}
	return m, c, p
}

func launchWord(t *testing.T, c *Client, p hip.Ptr, i int) {
	t.Helper()
	binary.LittleEndian.PutUint64(hostBytes(uint64(p)+8*uint64(i), 8), word(uint64(i)))
	one := hip.Dim3{X: 1, Y: 1, Z: 1}
	l := hip.Launch{Function: 1, Grid: one, Block: one, Args: binary.LittleEndian.AppendUint64(nil, uint64(i))}
	if code := c.LaunchKernel(hip.Thread{}, &l); code != hip.Success {
		t.Fatal(code)
	}
}

// TestHeldLaunches: whatever a program wrote before a launch is at the worker before it, launches come in their order, and nothing that follows overtakes one,
// however many are held back and whatever lets them go.
func TestHeldLaunches(t *testing.T) {
	const n = 20000
	m, c, p := mirrored(t, 8*n)
	rnd := rand.New(rand.NewPCG(5, 6))
	var want []message
	other := uint64(p) + 8*n - 8 // no launch looks at it
	for i := 0; i < n-1; {
		for range min(rnd.IntN(1+rnd.IntN(400)), n-1-i) {
			launchWord(t, c, p, i)
			i++
		}
		code, op := hip.Success, uint16(0)
		switch rnd.IntN(6) {
		case 0:
			op, code = hip.OpDeviceSynchronize, c.DeviceSynchronize(hip.Thread{})
		case 1:
			op, code = hip.OpStreamQuery, c.StreamQuery(hip.Thread{}, 0)
		case 2:
			op, code = hip.OpMemsetAsync, c.MemsetAsync(hip.Thread{}, hip.Ptr(other), 1, 1, 0)
		case 3:
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		case 4:
			time.Sleep(time.Duration(rnd.IntN(3)) * heldFor / 2)
		}
		if code != hip.Success {
			t.Fatal(code)
		}
		if op != 0 {
			want = append(want, message{op, i})
		}
	}
	if code := c.DeviceSynchronize(hip.Thread{}); code != hip.Success {
		t.Fatal(code)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	want = append(want, message{hip.OpDeviceSynchronize, n - 1})
	if !slices.Equal(m.said, want) {
		t.Errorf("messages came as %v, want %v", m.said, want)
	}
}

// TestHeldLaunchLeaves: a launch that is held goes by itself, and counts as work until then.
func TestHeldLaunchLeaves(t *testing.T) {
	m, c, p := mirrored(t, 8<<10)
	l := c.link.Load()
	close(l.stop) // no report lets it go
	t.Cleanup(func() { _ = l.Close() })
	held := false
	for i := range 1 << 10 {
		if code := c.DeviceSynchronize(hip.Thread{}); code != hip.Success || c.tasksOf(0).busy() {
			t.Fatalf("%v, or the device does not count as idle", code)
		}
		l.held.looked.Store(mono.Now())
		launchWord(t, c, p, i)
		if l.held.n.Load() > 0 {
			held = true
			if !c.tasksOf(0).busy() {
				t.Fatal("the device counts as idle")
			}
		}
		for end := time.Now().Add(time.Minute); m.launches() != i+1; time.Sleep(10 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatalf("launch %d does not leave", i)
			}
		}
		if held && i > 100 {
			return
		}
	}
	t.Errorf("no launch was held")
}
