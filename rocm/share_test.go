package rocm

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// shareTable is a Broker that counts what it holds.
type shareTable struct {
	mu   sync.Mutex
	last byte
	all  map[hip.ShareToken]hip.Shared
}

func (b *shareTable) Publish(s hip.Shared) (t hip.ShareToken, err hip.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	t[31] = b.last
	var e error
	if s.FD, e = unix.Dup(s.FD); e != nil {
		return t, hip.ErrorOutOfMemory
	}
	b.all[t] = s
	return t, hip.Success
}

func (b *shareTable) Fetch(t hip.ShareToken) (s hip.Shared, err hip.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.all[t]
	if !ok {
		return s, hip.ErrorInvalidValue
	}
	var e error
	if s.FD, e = unix.Dup(s.FD); e != nil {
		return s, hip.ErrorOutOfMemory
	}
	return s, hip.Success
}

func (b *shareTable) Withdraw(t hip.ShareToken) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, t)
}

func shareStub(t *testing.T) (*Runtime, *shareTable) {
	t.Helper()
	lib := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-I../hip/include", "-o", lib, "testdata/stub.c", "testdata/stub_share.c", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	b := &shareTable{all: map[hip.ShareToken]hip.Shared{}}
	r.Share(b)
	return r, b
}

const posix = hip.MemHandleTypePosixFileDescriptor

// A library's descriptor is passed on under a token, which ends with the memory.
func TestShareAllocation(t *testing.T) {
	r, b := shareStub(t)
	th := hip.Thread{}
	h, err := r.MemCreate(th, 4096, &hip.MemAllocationProp{}, 0)
	must(t, "create", err)
	token, err := r.MemExportToShareableHandle(th, h, posix, 0)
	must(t, "export", err)
	if again, err := r.MemExportToShareableHandle(th, h, posix, 0); err != hip.Success || again != token || len(b.all) != 1 {
		t.Errorf("exported again: %v, %d are published", err, len(b.all))
	}
	g, err := r.MemImportFromShareableHandle(th, &token, posix)
	must(t, "import", err)
	var a, c unix.Stat_t
	if unix.Fstat(int(h), &a) != nil || unix.Fstat(int(g), &c) != nil || a.Ino != c.Ino {
		t.Error("what was imported is not what was exported")
	}
	wrong := token
	wrong.Reserved[31]++
	for what, f := range map[string]func() hip.Error{
		"flags":             func() hip.Error { _, e := r.MemExportToShareableHandle(th, h, posix, 1); return e },
		"no descriptor":     func() hip.Error { _, e := r.MemExportToShareableHandle(th, h, 2, 0); return e },
		"a wrong token":     func() hip.Error { _, e := r.MemImportFromShareableHandle(th, &wrong, posix); return e },
		"no token":          func() hip.Error { _, e := r.MemImportFromShareableHandle(th, nil, posix); return e },
		"memory for a pool": func() hip.Error { _, e := r.MemPoolImportFromShareableHandle(th, &token, posix, 0); return e },
	} {
		if e := f(); e != hip.ErrorInvalidValue {
			t.Errorf("%s: %v", what, e)
		}
	}
	_, err = r.MemAddressReserve(th, 4096, 0, 1<<30, 0)
	must(t, "reserve", err)
	must(t, "map", r.MemMap(th, 1<<30, 4096, 0, h, 0))
	must(t, "release", r.MemRelease(th, h))
	if len(b.all) != 1 {
		t.Error("withdrawn while it is mapped")
	}
	if e := r.MemUnmap(th, 1<<30, 0); e != hip.ErrorInvalidValue {
		t.Error(e)
	}
	must(t, "unmap", r.MemUnmap(th, 1<<30, 4096))
	if len(b.all) != 0 {
		t.Error("it is published although the memory is gone")
	}
	must(t, "release what was imported", r.MemRelease(th, g))
	if len(r.allocs.all) != 0 || len(r.allocs.maps) != 0 {
		t.Errorf("%d allocations and %d mappings are left", len(r.allocs.all), len(r.allocs.maps))
	}
}

// What describes a pool is passed on as a file that cannot shrink.
func TestSharePool(t *testing.T) {
	r, b := shareStub(t)
	th := hip.Thread{}
	const pool = 0x5000
	token, err := r.MemPoolExportToShareableHandle(th, pool, posix, 0)
	must(t, "export", err)
	if again, err := r.MemPoolExportToShareableHandle(th, pool, posix, 0); err != hip.Success || again != token || len(b.all) != 1 {
		t.Errorf("exported again: %v, %d are published", err, len(b.all))
	}
	for _, s := range b.all {
		if seals, err := unix.FcntlInt(uintptr(s.FD), unix.F_GET_SEALS, 0); err != nil || seals&unix.F_SEAL_SHRINK == 0 || s.Size != 8 {
			t.Errorf("seals %#x, %v, %d bytes", seals, err, s.Size)
		}
	}
	if p, err := r.MemPoolImportFromShareableHandle(th, &token, posix, 0); err != hip.Success || p != pool+1 {
		t.Errorf("imported: %#x, %v", p, err)
	}
	if _, err := r.MemImportFromShareableHandle(th, &token, posix); err != hip.ErrorInvalidValue {
		t.Errorf("a pool for memory: %v", err)
	}
	must(t, "destroy", r.MemPoolDestroy(th, pool))
	if len(b.all) != 0 {
		t.Error("it is published although the pool is gone")
	}
}

// Without a broker nothing is shared.
func TestShareNothing(t *testing.T) {
	r := stub(t)
	if _, err := r.MemExportToShareableHandle(hip.Thread{}, 1, posix, 0); err != hip.ErrorNotSupported {
		t.Error(err)
	}
	if _, err := r.MemPoolImportFromShareableHandle(hip.Thread{}, &hip.IpcMemHandle{}, posix, 0); err != hip.ErrorNotSupported {
		t.Error(err)
	}
}
