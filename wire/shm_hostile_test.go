package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scribble is what a peer may write into the shared counters: what is there, near to it, or anything.
func scribble(r *rand.Rand, h *ringHead, size uint64) {
	v := func(p *uint64) {
		old := atomic.LoadUint64(p)
		atomic.StoreUint64(p, [...]uint64{old + 1, old - 1, old + size, old - size, old + size + 1, 0, ^uint64(0), r.Uint64(), r.Uint64N(4 * size)}[r.IntN(9)])
	}
	switch r.IntN(5) {
	case 0:
		v(&h.head)
	case 1:
		v(&h.base)
	case 2:
		v(&h.tail)
	case 3:
		atomic.StoreUint32(&h.hungry, r.Uint32N(3))
	case 4:
		atomic.StoreUint32(&h.crowded, r.Uint32N(3))
	}
}

// A peer that rewrites counters, bells and data while they are used gets an error or wrong bytes, and an end of the connection ends every wait.
func TestSharedHostilePeer(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 6
	}
	violations := 0
	for i := range n {
		own, other := sharedPair(t)
		heads, data := ringHeads(other.memory)
		var stop atomic.Bool
		var hostile, users sync.WaitGroup
		for j := range 2 {
			hostile.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				for !stop.Load() {
					scribble(r, heads[r.IntN(2)], uint64(len(data[0])))
					k := r.IntN(len(data[0]) - 8)
					*(*byte)(unsafe.Pointer(&data[r.IntN(2)][k])) = byte(r.Uint32())
					if r.IntN(1000) == 0 {
						time.Sleep(time.Microsecond)
					}
				}
			})
		}
		var failed [2]error
		users.Go(func() { // reads
			p := make([]byte, 100000)
			for {
				if _, err := own.read(p); err != nil {
					failed[0] = err
					return
				}
			}
		})
		users.Go(func() { // writes
			p := make([]byte, 70000)
			for {
				switch _, err := own.tryWrite(p[:20], p); err {
				case nil:
				case errAgain:
					own.wait(writable, time.Millisecond)
				default:
					failed[1] = err
					return
				}
			}
		})
		users.Go(func() { // rests, as a keeper does
			for own.over.Load() == 0 {
				own.rest(time.Millisecond, true)
				own.unread()
			}
		})
		time.Sleep(5 * time.Millisecond)
		own.shutdown()
		within(t, "the end with a hostile peer", users.Wait)
		stop.Store(true)
		hostile.Wait()
		for _, err := range failed {
			if errors.Is(err, ErrProtocol) {
				violations++
			} else if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
				t.Error(err)
			}
		}
		own.close()
		other.close()
	}
	if violations == 0 {
		t.Error("no violation was noticed")
	}
}

// A client whose server rewrites what is shared: calls end with an error, and so does the connection.
func TestSharedHostileServer(t *testing.T) {
	for i := range 10 {
		server, client := sharedPair(t)
		c := newClient(client, Options{IOTimeout: time.Second}, &Welcome{Protocol: Version, HeartbeatMS: 60000}, "gpu7", "18515")
		heads, data := ringHeads(server.memory)
		var stop atomic.Bool
		var hostile sync.WaitGroup
		hostile.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for !stop.Load() {
				scribble(r, heads[r.IntN(2)], uint64(len(data[0])))
			}
		})
		within(t, "calls", func() {
			for {
				if err := c.Call(opEcho, &Msg{Req: []byte("x"), Bulk: make([]byte, 20000), Dst: make([]byte, 20000)}); err != nil {
					break
				}
			}
			_ = c.Close()
		})
		stop.Store(true)
		hostile.Wait()
		server.close()
	}
}

// FuzzSharedRing has a peer write any counters and bells between the steps of a reader and a writer: each step copies what it says it has copied and no more.
func FuzzSharedRing(f *testing.F) {
	f.Add([]byte{0, 10, 1, 10, 2, 0})
	f.Add([]byte{0, 255, 0, 255, 3, 1, 1, 200, 4, 7, 5, 9, 6, 3, 7, 1, 0, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		words := make([]uint64, (shmHeads+2*shmMin)/8)
		memory := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
		head, data := ringHeads(memory)
		out := ringOut{m: head[0], b: data[0]}
		in := ringIn{m: head[1], b: data[1]}
		p := make([]byte, 300*shmMin/64)
		for ; len(script) >= 2; script = script[2:] {
			v := uint64(script[1])
			p := p[:v*shmMin/64]
			switch script[0] % 8 {
			case 0:
				if n, err := out.put(p); n < 0 || n > len(p) || n > shmMin && err != nil {
					t.Fatal(n, err)
				}
			case 1:
				if n, err := in.get(p); n < 0 || n > len(p) {
					t.Fatal(n, err)
				}
			case 2:
				head[0].tail += v
			case 3:
				head[0].tail = v<<56 | v<<3
			case 4:
				head[1].head += v << 4
			case 5:
				head[1].head = v<<57 - v
			case 6:
				head[1].base = v << 55
			case 7:
				head[0].hungry, head[0].crowded, head[1].hungry, head[1].crowded = uint32(v), uint32(v)>>1, uint32(v)>>2, uint32(v)>>3
			}
			if out.head-out.tail > shmMin || in.head-in.tail > shmMin {
				t.Fatal("more in a ring than it holds")
			}
		}
	})
}

// FuzzShareOffer: an offer that is taken is the same written again.
func FuzzShareOffer(f *testing.F) {
	f.Add((&shareOffer{place: "@rocwire-1", token: [shareToken]byte{1}}).frame()[HeaderSize:], uint32(FlagNoReply))
	f.Add(shareAnswer(true)[HeaderSize:], uint32(FlagResponse))
	f.Fuzz(func(t *testing.T, p []byte, flags uint32) {
		h := Header{Version: Version, Op: OpShare, Length: uint32(len(p)), Flags: Flags(flags)}
		if o, err := parseShareOffer(h, p); err == nil && !bytes.Equal(o.frame()[HeaderSize:], p) {
			t.Errorf("%x is %+v", p, o)
		}
		if taken, err := parseShareAnswer(h, p); err == nil && taken && !bytes.Equal(shareAnswer(true)[HeaderSize:], p) {
			t.Errorf("%x is taken", p)
		}
	})
}

// Memory that is not as agreed is not mapped: it could end this process.
func TestSharedMemoryIsChecked(t *testing.T) {
	make := func(size int64, seals int) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	good := int64(shmHeads + 2*shmBytes)
	for _, c := range []struct {
		name  string
		size  int64
		seals int
	}{
		{"none sealed", good, 0}, {"may shrink", good, unix.F_SEAL_GROW | unix.F_SEAL_SEAL}, {"may grow", good, unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL},
		{"may be unsealed further", good, unix.F_SEAL_SHRINK | unix.F_SEAL_GROW}, {"empty", 0, shmSeals}, {"a page", shmHeads, shmSeals},
		{"too small", shmHeads + shmMin, shmSeals}, {"too large", shmHeads + 4*shmMax, shmSeals}, {"no power of two", shmHeads + 2*(shmMin+4096), shmSeals},
		{"odd", good + 1, shmSeals}, {"read only", good, shmSeals | unix.F_SEAL_WRITE},
	} {
		if b, err := mapShared(make(c.size, c.seals)); err == nil {
			t.Errorf("%s: mapped", c.name)
			_ = unix.Munmap(b)
		}
	}
	b, err := mapShared(make(good, shmSeals))
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Munmap(b)
	p := [2]int{}
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer closeFDs(p[0], p[1])
	if _, err := mapShared(p[0]); err == nil {
		t.Error("a pipe was mapped")
	}
}

func closeFDs(list ...int) {
	for _, fd := range list {
		_ = unix.Close(fd)
	}
}
