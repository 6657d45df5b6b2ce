package push

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDisk is a folder whose disk has 256 KiB, or one that can be made to take
// nothing where nothing may be mounted. break makes the disk full.
func smallDisk(t *testing.T) (dir string, full, free func()) {
	t.Helper()
	dir = t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k")
	if err == nil {
		t.Cleanup(func() { check(syscall.Unmount(dir, syscall.MNT_DETACH)) })
		fill := filepath.Join(dir, "others")
		return dir, func() {
			f, err := os.Create(fill)
			check(err)
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			check(f.Close())
		}, func() { check(os.Remove(fill)) }
	}
	if os.Geteuid() == 0 {
		t.Skipf("root without the right to mount (%v) can write to every folder: run as another user or with CAP_SYS_ADMIN", err)
	}
	queue := filepath.Join(dir, "test")
	check(os.Mkdir(queue, 0o700))
	return dir, func() { check(os.Chmod(queue, 0o500)) }, func() { check(os.Chmod(queue, 0o700)) }
}

// While the disk is full, records wait in memory, in order, and are counted as such;
// they go to the disk once it has room.
func TestDiskFull(t *testing.T) {
	dir, full, free := smallDisk(t)
	p := open(t, Options{Dir: dir, MaxBytes: 1 << 20})
	next := uint64(0)
	puts := func(n int) {
		for range n {
			put(t, p, payload(next, 2000))
			next++
		}
	}
	puts(40)
	full()
	puts(40) // what was allocated of the last file may still take some
	st := p.Stats()
	if st.InMemory == 0 || st.InMemory > 40 || st.Waiting != 80 || st.DiskError == "" || st.Crowded != 0 {
		t.Fatalf("%+v", st)
	}
	for range 3 {
		take(t, p, nil)
	}
	free()
	puts(1)
	if st := p.Stats(); st.InMemory != 0 || st.Waiting != 78 || st.DiskError != "" {
		t.Fatalf("%+v", st)
	}
	crash(p)
	p = open(t, Options{Dir: dir, MaxBytes: 1 << 20})
	puts(1)
	all := takeAll(t, p)
	if len(all) != 79 || all[0] != 3 || all[78] != 81 {
		t.Errorf("%v, %+v", all, p.Stats())
	}
}

// On a disk that stays full, memory is bounded: the oldest go, those on disk first.
func TestDiskStaysFull(t *testing.T) {
	dir, full, _ := smallDisk(t)
	p := open(t, Options{Dir: dir, MaxBytes: 64 << 20})
	full()
	next := uint64(0)
	var last Stats
	for range 3 * besideDisk / (100 << 10) {
		put(t, p, payload(next, 100<<10))
		next++
		last = p.Stats()
		if p.mem.bytes > besideDisk {
			t.Fatalf("%d bytes in memory", p.mem.bytes)
		}
	}
	if last.Crowded == 0 || last.InMemory == 0 || last.Waiting+int64(last.Crowded) != int64(next) {
		t.Fatalf("%+v", last)
	}
	all := takeAll(t, p)
	if all[0] != last.Crowded || all[len(all)-1] != next-1 || len(all) != int(last.Waiting) {
		t.Errorf("%d from %d, %+v", len(all), all[0], last)
	}
}

// A record that moves from memory to the disk while it is being sent is sent once.
func TestMovesWhileSent(t *testing.T) {
	dir, full, free := smallDisk(t)
	p := open(t, Options{Dir: dir})
	full()
	for i := range uint64(3) {
		put(t, p, payload(i, 2000))
	}
	r, err := p.peek()
	if err != nil || p.Stats().InMemory != 3 {
		t.Fatal(err, p.Stats())
	}
	free()
	put(t, p, payload(3, 2000))
	if st := p.Stats(); st.InMemory != 0 {
		t.Fatalf("%+v", st)
	}
	p.done(r, nil)
	if all := takeAll(t, p); len(all) != 3 || all[0] != 1 {
		t.Error(all)
	}
	if st := p.Stats(); st.Sent != 4 || st.Corrupt+st.Crowded != 0 {
		t.Errorf("%+v", st)
	}
}
