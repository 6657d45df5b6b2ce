package push

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

func FuzzFrames(f *testing.F) {
	const salt = 7
	one := appendFrame(nil, &record{seq: 1, time: time.Unix(1, 2), data: []byte("one")}, salt)
	two := appendFrame(one, &record{seq: 2, data: bytes.Repeat(frameMagic, 20)}, salt)
	f.Add([]byte(nil))
	f.Add(one)
	f.Add(two)
	f.Add(two[:len(two)-1])
	f.Add(append([]byte("rwR\x01garbage rwR"), two...))
	f.Add(appendFrame(nil, &record{seq: 3}, salt+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		fr := &frames{r: bytes.NewReader(b), salt: salt, end: int64(len(b))}
		for {
			before := fr.off
			r, err := fr.next()
			if err == io.EOF {
				if fr.off != int64(len(b)) {
					t.Fatalf("ends at %d of %d", fr.off, len(b))
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if fr.off < before+r.size() {
				t.Fatalf("a record of %d bytes moves from %d to %d", r.size(), before, fr.off)
			}
			if again := appendFrame(nil, r, salt); !bytes.Equal(again, b[fr.off-r.size():fr.off]) {
				t.Fatalf("%q was read from something else", r.data)
			}
		}
		// What is in front of a record does not hide it.
		fr = &frames{r: bytes.NewReader(append(b, one...)), salt: salt, end: int64(len(b) + len(one))}
		var last *record
		for r, err := fr.next(); err == nil; r, err = fr.next() {
			last = r
		}
		if last == nil || last.seq != 1 || string(last.data) != "one" {
			t.Fatalf("the last record is %+v", last)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(appendCursor(nil, 12))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := parseCursor(b); n != 0 && !bytes.Equal(appendCursor(nil, n), b) {
			t.Fatalf("%x is %d", b, n)
		}
	})
}

// fill makes a queue of n records on disk, of which the first sent were sent, and
// tells its one file.
func fill(t *testing.T, n, sent int) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	p := open(t, Options{Dir: dir})
	for i := range n {
		put(t, p, payload(uint64(i), 20))
	}
	for range sent {
		take(t, p, nil)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, files(t, dir)[0]
}

// Wherever one byte of a file is not what was written, one record is lost at most,
// and counted; unless the file no longer says that it is one.
func TestCorruptByte(t *testing.T) {
	dir, file := fill(t, 5, 0)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		restore(t, dir, file, bad)
		p := open(t, Options{Dir: dir})
		all := takeAll(t, p)
		st := p.Stats()
		crash(p)
		switch {
		case i < segmentHeader:
			if len(all) != 0 || st.Corrupt != 1 {
				t.Errorf("byte %d of the file's head: %v, %+v", i, all, st)
			}
		case len(all) != 4 || st.Corrupt != 1:
			t.Errorf("byte %d: %v, %+v", i, all, st)
		}
	}
}

// Wherever a file ends, what is whole before that is sent, and more can be put.
func TestTruncated(t *testing.T) {
	dir, file := fill(t, 5, 0)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	each := (len(good) - segmentHeader) / 5
	for n := range len(good) {
		restore(t, dir, file, good[:n])
		p := open(t, Options{Dir: dir})
		put(t, p, payload(9, 20))
		all := takeAll(t, p)
		st := p.Stats()
		crash(p)
		whole := max(0, n-segmentHeader) / each
		torn := n < segmentHeader || (n-segmentHeader)%each != 0
		if len(all) != whole+1 || all[whole] != 9 || (st.Corrupt == 1) != torn || st.Corrupt > 1 {
			t.Errorf("%d bytes: %v, %+v", n, all, st)
		}
	}
}

// restore makes a queue of one file from which nothing was sent.
func restore(t *testing.T, dir, file string, data []byte) {
	t.Helper()
	for _, name := range append(files(t, dir), dir+"/test/"+cursorName) {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that is damaged, gone or foreign costs what was in it, which is counted, and
// nothing else; also while the queue is open.
func TestLostFiles(t *testing.T) {
	for name, damage := range map[string]func(name string) error{
		"gone":    os.Remove,
		"empty":   func(name string) error { return os.Truncate(name, 0) },
		"cut":     func(name string) error { return os.Truncate(name, 100) },
		"foreign": func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("rwR\x01"), 1000), 0o600) },
	} {
		for _, running := range []bool{true, false} {
			for which := range 4 {
				t.Run(fmt.Sprint(name, running, which), func(t *testing.T) {
					dir := t.TempDir()
					opt := Options{Dir: dir, MaxBytes: 128 << 10} // files of 8 KiB
					p := open(t, opt)
					const n = 28
					for i := range uint64(n) {
						put(t, p, payload(i, 1000))
					}
					if len(files(t, dir)) != 4 {
						t.Fatalf("%d files", len(files(t, dir)))
					}
					if !running {
						if err := p.Close(); err != nil {
							t.Fatal(err)
						}
					}
					if err := damage(files(t, dir)[which]); err != nil {
						t.Fatal(err)
					}
					if !running {
						p = open(t, opt)
					}
					all := takeAll(t, p)
					st := p.Stats()
					known := running || which != 3 // nobody knows what was in the last file
					if known && uint64(len(all))+st.Corrupt != n || len(all) < n-7 || st.Corrupt > 7 || st.Waiting != 0 {
						t.Errorf("%v, %+v", all, st)
					}
					if open := running && which == 0; st.Corrupt == 0 && name != "gone" && !open {
						t.Errorf("%+v", st)
					}
					put(t, p, payload(77, 10))
					if all := takeAll(t, p); fmt.Sprint(all) != "[77]" {
						t.Errorf("then %v", all)
					}
				})
			}
		}
	}
}

// Without the note of what was sent everything is sent again, and nothing is lost.
func TestLostCursor(t *testing.T) {
	for _, bad := range []string{"", "x", string(appendCursor(nil, 4)[:11]) + "x"} {
		dir, _ := fill(t, 5, 3)
		if err := os.WriteFile(dir+"/test/"+cursorName, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		p := open(t, Options{Dir: dir})
		if all := takeAll(t, p); fmt.Sprint(all) != "[0 1 2 3 4]" {
			t.Errorf("%q: %v", bad, all)
		}
	}
	// A power cut may keep the note and lose the records before it.
	dir, file := fill(t, 5, 5)
	if err := os.Truncate(file, segmentHeader+100); err != nil {
		t.Fatal(err)
	}
	p := open(t, Options{Dir: dir})
	put(t, p, payload(7, 10))
	if all := takeAll(t, p); fmt.Sprint(all) != "[7]" {
		t.Error(all)
	}
}

// What a record says cannot be taken for a record, also when its head is damaged.
func TestRecordInRecord(t *testing.T) {
	dir, file := fill(t, 1, 0)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, Options{Dir: dir, Name: "other"})
	put(t, p, bytes.Repeat(b, 3)) // a whole file of records, but with that file's salt
	put(t, p, payload(5, 10))
	crash(p)
	name := dir + "/other/" + segmentName(1)
	b, err = os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[segmentHeader] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	p = open(t, Options{Dir: dir, Name: "other"})
	if all := takeAll(t, p); fmt.Sprint(all) != "[5]" {
		t.Error(all)
	}
}
