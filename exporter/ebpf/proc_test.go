//go:build linux && amd64

package ebpf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const someMaps = `55c5b2c00000-55c5b2c01000 r-xp 00001000 fe:00 12 /usr/bin/calls
7f0000000000-7f0000001000 r--p 00000000 fe:00 1234                       /opt/rocm/lib/libamdhip64.so.6.4
7f0000001000-7f0000002000 r-xp 00001000 fe:00 1234                       /opt/rocm/lib/libamdhip64.so.6.4
7f0000003000-7f0000004000 r-xp 00000000 00:2b 99                         /a b/libamdhip64.so (deleted)
7f0000005000-7f0000006000 r-xp 00000000 00:2b 99                         /lib/libamdhip64.so.6/other
7f0000007000-7f0000008000 r-xp 00000000 00:2b x                          /lib/libamdhip64.so.6
7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0                          [stack]
`

func TestMappings(t *testing.T) {
	got, err := mappings(strings.NewReader(someMaps+strings.Repeat("/", 20000)+"\n"), DefaultLibraries)
	want := []mapping{
		{mapKey{"fe:00", 1234}, 0x7f0000001000, 0x7f0000002000, "/opt/rocm/lib/libamdhip64.so.6.4"},
		{mapKey{"00:2b", 99}, 0x7f0000003000, 0x7f0000004000, "/a b/libamdhip64.so"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzMappings(f *testing.F) {
	f.Add(someMaps)
	f.Add("7f-80 r-xp 0 0:0 0 /libamdhip64.so")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := mappings(strings.NewReader(s), DefaultLibraries)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if !strings.HasPrefix(m.path, "/") || !matches(DefaultLibraries, filepath.Base(m.path)) || len(m.file.device) > 16 {
				t.Errorf("%+v", m)
			}
		}
	})
}

const someStat = "4711 (a ) b) S 1 4711 4711 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 987654 1048576 10 0 0"

func TestStat(t *testing.T) {
	if s, ok := parseStat([]byte(someStat)); !ok || s != (status{start: 987654, size: 1 << 20}) {
		t.Errorf("%+v, %v", s, ok)
	}
	for state, ended := range map[string]bool{
		") Z 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 7 0": true,
		") Z 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 2 0 7 0": false, // its first thread alone has ended
		") X 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 2 0 7 0": true,
	} {
		if s, ok := parseStat([]byte(state)); !ok || s.ended != ended {
			t.Errorf("%s: %+v, %v", state, s, ok)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte(someStat))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseStat(b); !ok && s != (status{}) {
			t.Errorf("%+v", s)
		}
	})
}

// fakeProc is a /proc with one process.
type fakeProc struct {
	t   *testing.T
	dir string
}

func (f *fakeProc) write(pid int, size int, maps string) {
	f.t.Helper()
	dir := filepath.Join(f.dir, fmt.Sprint(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	stat := fmt.Sprintf("%d (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 7 %d 1", pid, size)
	for name, text := range map[string]string{"stat": stat, "maps": maps} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

// The mappings of a process are read again when its size has changed, and the older it
// is the less often; so are others looked at.
// On a machine so busy that everything takes longer than a scan may, processes are read all the same, one a scan.
func TestScannerOnBusyMachine(t *testing.T) {
	f := &fakeProc{t, t.TempDir()}
	s := newScanner(proc(f.dir), DefaultLibraries, &asker{patience: time.Minute})
	now := time.Unix(1e9, 0)
	s.now = func() time.Time { now = now.Add(2 * budget); return now }
	for pid := range 3 {
		f.write(10+pid, 4096, someMaps)
	}
	for want := 1; want <= 3; want++ {
		if err := s.scan(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range s.seen {
			if len(p.maps) > 0 {
				n++
			}
		}
		if n != want {
			t.Errorf("%d processes are known after %d scans", n, want)
		}
	}
}

func TestScanner(t *testing.T) {
	f := &fakeProc{t, t.TempDir()}
	s := newScanner(proc(f.dir), DefaultLibraries, &asker{patience: time.Minute})
	now := time.Unix(1e9, 0)
	s.now = func() time.Time { return now }
	scan := func() int {
		t.Helper()
		if err := s.scan(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range s.seen {
			n += len(p.maps)
		}
		return n
	}
	f.write(10, 4096, "")
	f.write(11, 0, someMaps) // a thread of the kernel
	if n := scan(); n != 0 || len(s.seen) != 2 {
		t.Errorf("%d mappings of %d processes", n, len(s.seen))
	}
	f.write(10, 4096, someMaps)
	now = now.Add(time.Minute)
	if n := scan(); n != 0 {
		t.Error("it was read again although its size is the same")
	}
	f.write(10, 8192, someMaps)
	now = now.Add(time.Second)
	if n := scan(); n != 0 {
		t.Error("an old process was looked at again within a second")
	}
	now = now.Add(maxLook)
	if n := scan(); n != 2 {
		t.Errorf("%d mappings", n)
	}
	f.write(10, 12288, "")
	now = now.Add(time.Second)
	if n := scan(); n != 2 {
		t.Error("an old process was read again within a second")
	}
	s.executed(10)
	if n := scan(); n != 0 {
		t.Errorf("%d mappings of a new program", n)
	}
	if err := os.RemoveAll(filepath.Join(f.dir, "10")); err != nil {
		t.Fatal(err)
	}
	if scan(); len(s.seen) != 1 {
		t.Errorf("%d processes", len(s.seen))
	}
}

// What hangs is not waited for, and its answer counts when it comes.
func TestAsker(t *testing.T) {
	a, goOn := &asker{patience: time.Millisecond}, make(chan struct{})
	var open []answer[int]
	for i := range maxLate {
		open = append(open, ask(a, func() int { <-goOn; return i }))
	}
	if _, ok := open[0].take(); ok {
		t.Error("an answer that is not there")
	}
	if ask(a, func() int { return 0 }) != nil {
		t.Error("too many questions were asked")
	}
	close(goOn)
	for i, o := range open {
		if n := <-o; n != i {
			t.Errorf("%d answers %d", i, n)
		}
	}
	for a.late.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	a.patience = time.Minute
	o := ask(a, func() int { return 7 })
	if n, ok := o.take(); n != 7 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
}

func TestSymbols(t *testing.T) {
	if _, err := symbols(strings.NewReader("not a library")); err == nil {
		t.Error("text is a library")
	}
	tiny, err := os.Open("testdata/tiny.so")
	if err != nil {
		t.Fatal(err)
	}
	defer tiny.Close()
	list, err := symbols(tiny)
	names := map[string]bool{}
	for _, s := range list {
		names[s.name] = s.offset > 0 && s.offset < 4864
	}
	if err != nil || len(names) != 2 || !names["hipMalloc"] || !names["hipFree"] {
		t.Errorf("%+v, %v", list, err)
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := symbols(f); err == nil {
		t.Error("this program exports functions")
	}
}

func FuzzSymbols(f *testing.F) {
	if b, err := os.ReadFile("testdata/tiny.so"); err == nil {
		f.Add(b)
	} else {
		f.Fatal(err)
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := symbols(strings.NewReader(string(b)))
		if err != nil && list != nil {
			t.Error(err)
		}
		if len(list) > maxSymbols {
			t.Errorf("%d symbols", len(list))
		}
	})
}
