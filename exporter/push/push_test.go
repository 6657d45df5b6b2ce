package push

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errDown = errors.New("the server is down")

// payload is a record that can be told from others, of n bytes at least.
func payload(i uint64, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, i)
	for len(b) < n {
		b = append(b, byte(i)+byte(len(b)))
	}
	return b
}

func number(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// open opens a queue that keeps what it is told to send in sent.
func open(t testing.TB, o Options) *Pusher {
	t.Helper()
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Send == nil {
		o.Send = func(context.Context, []byte) error { return nil }
	}
	p, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func put(t testing.TB, p *Pusher, b []byte) {
	t.Helper()
	if err := p.Put(b); err != nil {
		t.Fatal(err)
	}
}

// take sends the oldest record as Run does.
func take(t testing.TB, p *Pusher, result error) (uint64, bool) {
	t.Helper()
	r, err := p.peek()
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return 0, false
	}
	p.done(r, result)
	return number(r.data), true
}

func takeAll(t testing.TB, p *Pusher) (all []uint64) {
	t.Helper()
	for {
		n, ok := take(t, p, nil)
		if !ok {
			return all
		}
		all = append(all, n)
	}
}

// crash ends a queue like the end of its process does: only the kernel closes.
func crash(p *Pusher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.disk.release()
}

// Whatever is done to a queue, it delivers what a list in memory would.
func TestModel(t *testing.T) {
	for _, folder := range []bool{true, false} {
		for seed := range uint64(30) {
			dir := ""
			if folder {
				dir = t.TempDir()
			}
			model(t, dir, rand.New(rand.NewPCG(seed, 1)))
		}
	}
}

func model(t *testing.T, dir string, rnd *rand.Rand) {
	opt := Options{Dir: dir, MaxBytes: 1 << 20} // files of 64 KiB, and never full
	p := open(t, opt)
	var list []uint64
	var st Stats // of this Open
	next := uint64(1)
	for range 400 {
		switch k := rnd.IntN(20); {
		case k < 9:
			if p.Stats().WaitingBytes > 900<<10 {
				continue
			}
			put(t, p, payload(next, rnd.IntN(12<<10)))
			list = append(list, next)
			next++
		case k < 17:
			var result error
			switch rnd.IntN(4) {
			case 0:
				result = errDown
			case 1:
				result = fmt.Errorf("400: %w", ErrPermanent)
			}
			n, ok := take(t, p, result)
			if ok != (len(list) > 0) || ok && n != list[0] {
				t.Fatalf("sends %d %v of %v", n, ok, list)
			}
			switch {
			case !ok:
			case result == nil:
				st.Sent++
				list = list[1:]
			case result == errDown:
				st.Failures++
			default:
				st.Refused++
				list = list[1:]
			}
		case dir != "":
			if k == 18 {
				crash(p)
			} else if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			p, st = open(t, opt), Stats{}
		}
		got := p.Stats()
		if got.Waiting != int64(len(list)) || got.Sent != st.Sent || got.Refused != st.Refused || got.Failures != st.Failures ||
			got.Crowded+got.Expired+got.Corrupt != 0 || got.Oldest.IsZero() != (len(list) == 0) || (got.WaitingBytes == 0) != (len(list) == 0) {
			t.Fatalf("%d wait, %+v: %+v", len(list), st, got)
		}
		if files := size(t, dir); files > opt.MaxBytes {
			t.Fatalf("%d bytes on disk", files)
		}
	}
	if all := takeAll(t, p); fmt.Sprint(all) != fmt.Sprint(list) {
		t.Fatalf("at the end %v of %v", all, list)
	}
}

// size is what a queue's files of records take.
func size(t testing.TB, dir string) (n int64) {
	t.Helper()
	for _, name := range files(t, dir) {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		n += st.Size()
	}
	return n
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "test", "*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A queue that is full loses the oldest, and says how many.
func TestCrowded(t *testing.T) {
	for _, folder := range []bool{true, false} {
		dir := ""
		if folder {
			dir = t.TempDir()
		}
		const max = 128 << 10
		p := open(t, Options{Dir: dir, MaxBytes: max})
		const n = 1000
		for i := range uint64(n) {
			put(t, p, payload(i, 1000))
			if s := size(t, dir); folder && s > max {
				t.Fatalf("%d bytes on disk", s)
			}
			if s := p.Stats().WaitingBytes; s > max || i > 200 && s < max*3/4 {
				t.Fatalf("%d bytes wait after %d", s, i)
			}
		}
		st := p.Stats()
		all := takeAll(t, p)
		if st.Crowded == 0 || uint64(len(all))+st.Crowded != n || all[0] != st.Crowded || all[len(all)-1] != n-1 || st.Waiting != int64(len(all)) {
			t.Errorf("%d from %d, %+v", len(all), all[0], st)
		}
		if err := p.Put(make([]byte, max)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}
}

// What is being sent while it is dropped is counted once, as what became of it.
func TestDroppedWhileSent(t *testing.T) {
	for _, folder := range []bool{true, false} {
		for _, result := range []error{nil, errDown, ErrPermanent} {
			dir := ""
			if folder {
				dir = t.TempDir()
			}
			p := open(t, Options{Dir: dir, MaxBytes: minBytes})
			put(t, p, payload(0, 1000))
			r, err := p.peek()
			if err != nil {
				t.Fatal(err)
			}
			n := uint64(1)
			for ; n < 100; n++ {
				put(t, p, payload(n, 1000))
			}
			p.done(r, result)
			st := p.Stats()
			left := uint64(len(takeAll(t, p)))
			if st.Sent+st.Refused+st.Crowded+left != n || (result == nil) != (st.Sent == 1) || (result == ErrPermanent) != (st.Refused == 1) {
				t.Errorf("%v: %d are left, %+v", result, left, st)
			}
		}
	}
}

func TestExpired(t *testing.T) {
	for _, folder := range []bool{true, false} {
		dir := ""
		if folder {
			dir = t.TempDir()
		}
		synctest.Test(t, func(t *testing.T) {
			p := open(t, Options{Dir: dir, MaxAge: time.Hour})
			for i := range uint64(4) {
				put(t, p, payload(i, 10))
				time.Sleep(20 * time.Minute)
			}
			if st := p.Stats(); st.Waiting != 4 || time.Since(st.Oldest) != 80*time.Minute {
				t.Errorf("%+v", st)
			}
			if all := takeAll(t, p); fmt.Sprint(all) != "[1 2 3]" {
				t.Error(all)
			}
			if st := p.Stats(); st.Expired != 1 || st.Sent != 3 || st.Waiting != 0 || !st.Oldest.IsZero() {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A server that is down for twenty minutes gets everything afterwards, once and in
// order; while it is down it is not asked more than once a minute.
func TestDown(t *testing.T) {
	for _, folder := range []bool{true, false} {
		dir := ""
		if folder {
			dir = t.TempDir()
		}
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var got []uint64
			attempts := 0
			p := open(t, Options{Dir: dir, Send: func(_ context.Context, b []byte) error {
				if since := time.Since(start); since > 5*time.Minute && since < 25*time.Minute {
					attempts++
					return errDown
				}
				got = append(got, number(b))
				return nil
			}})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan bool)
			go func() { p.Run(ctx); close(ended) }()
			const n = 1800
			for i := range uint64(n) {
				put(t, p, payload(i, 100))
				time.Sleep(time.Second)
				if i == 600 {
					if st := p.Stats(); st.Up || st.LastError != errDown.Error() || st.Waiting < 290 || st.Oldest.IsZero() {
						t.Errorf("while it is down: %+v", st)
					}
				}
			}
			cancel()
			<-ended
			for i, v := range got {
				if v != uint64(i) {
					t.Fatalf("%d is at place %d", v, i)
				}
			}
			if st := p.Stats(); len(got) != n || st.Sent != n || !st.Up || st.LastError != "" || st.Waiting != 0 || st.Failures != uint64(attempts) {
				t.Errorf("%d arrived, %+v", len(got), st)
			}
			if attempts < 20 || attempts > 40 {
				t.Errorf("%d attempts in 20 minutes", attempts)
			}
		})
	}
}

// Run ends soon after it is told to, also when the server hangs; what it could not
// send is there the next time.
func TestDrain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var got []uint64
		p := open(t, Options{Dir: dir, Send: func(ctx context.Context, b []byte) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(400 * time.Millisecond):
				got = append(got, number(b))
				return nil
			}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range uint64(20) {
			put(t, p, payload(i, 10))
		}
		start := time.Now()
		p.Run(ctx)
		if d := time.Since(start); d != defaultDrain || len(got) != 7 {
			t.Errorf("ends after %v with %d sent", d, len(got))
		}
		crash(p)
		p = open(t, Options{Dir: dir})
		if all := takeAll(t, p); len(all) != 13 || all[0] != 7 {
			t.Error(all)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "999999999": maxRetryAfter, "99999999999999999999": 0,
		"Fri, 01 May 2026 12:00:30 GMT": 30 * time.Second, "Fri, 01 May 2026 11:00:30 GMT": 0, "Mon, 01 May 2028 11:00:30 GMT": maxRetryAfter,
	} {
		if d := RetryAfter(header, now); d != want {
			t.Errorf("%q: %v", header, d)
		}
	}
	var b backoff
	last := time.Duration(0)
	for range 10 {
		d := b.next(errDown)
		if d < last*3/4 || d > longestPause || d < firstPause*3/4 {
			t.Errorf("%v after %v", d, last)
		}
		last = d
	}
	if d := b.next(fmt.Errorf("429: %w", &RetryError{After: 5 * time.Minute, Err: errDown})); d != 5*time.Minute {
		t.Error(d)
	}
	if d := b.next(&RetryError{After: time.Hour, Err: errDown}); d != maxRetryAfter {
		t.Error(d)
	}
	b.reset()
	if d := b.next(errDown); d > firstPause {
		t.Errorf("%v after a reset", d)
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queues")
	p := open(t, Options{Dir: dir})
	put(t, p, payload(1, 10))
	_, err := Open(Options{Dir: dir, Name: "test", Send: p.opt.Send})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second one: %v", err)
	}
	for _, name := range []string{dir, filepath.Join(dir, "test")} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "test"))
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if st, err := e.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), st, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Put([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := os.Chmod(filepath.Join(dir, "test"), 0o755); err != nil {
		t.Fatal(err)
	}
	p = open(t, Options{Dir: dir})
	if st, err := os.Stat(filepath.Join(dir, "test")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	if all := takeAll(t, p); len(all) != 1 {
		t.Error(all)
	}
	for _, o := range []Options{{Name: "x"}, {Send: p.opt.Send}, {Name: "../x", Send: p.opt.Send}, {Name: "..", Send: p.opt.Send}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v", o)
		}
	}
	if os.Geteuid() == 0 {
		other := filepath.Join(dir, "other")
		if err := errors.Join(os.Mkdir(other, 0o700), os.Chown(other, 1, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Dir: dir, Name: "other", Send: p.opt.Send}); err == nil || !strings.Contains(err.Error(), "belongs to user 1") {
			t.Error(err)
		}
	}
}

// Put keeps no reference to what it is given.
func TestPutCopies(t *testing.T) {
	p := open(t, Options{})
	b := payload(1, 10)
	put(t, p, b)
	clear(b)
	if r, _ := p.peek(); !bytes.Equal(r.data, payload(1, 10)) {
		t.Error(r.data)
	}
}
