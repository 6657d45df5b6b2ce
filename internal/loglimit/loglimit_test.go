package loglimit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"testing/synctest"
	"time"
)

// buffer may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *buffer) Reset() {
	b.mu.Lock()
	b.b.Reset()
	b.mu.Unlock()
}

func logger(b *buffer) *slog.Logger {
	return Logger(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
}

// TestOneClient is a session that sends nothing but nonsense.
func TestOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		root := logger(&b)
		log, other := root.With("session", 7), root.With("session", 8)
		for range 12_345 + PerKind {
			log.Warn("malformed request", "op", "hipMalloc")
		}
		other.Warn("malformed request")
		if n := strings.Count(b.String(), "\n"); n != PerKind+1 || !strings.Contains(b.String(), "session=8") {
			t.Fatalf("%d lines, one of them another session's:\n%s", n, b.String())
		}
		b.Reset()
		time.Sleep(Period)
		synctest.Wait()
		if got, want := b.String(), "level=WARN msg=\"malformed request … 12,345 more like this\" session=7\n"; got != want {
			t.Errorf("after the period: %q, want %q", got, want)
		}
		b.Reset()
		log.Warn("malformed request")
		time.Sleep(2 * Period)
		synctest.Wait()
		if got, want := b.String(), "level=WARN msg=\"malformed request\" session=7\n"; got != want {
			t.Errorf("in the next period: %q, want %q", got, want)
		}
	})
}

// TestAnyText is a session process that has been taken over: no two lines are the same.
func TestAnyText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		log := logger(&b)
		for i := range 10_000 {
			log.Error(fmt.Sprint("line ", i), "session", 7)
		}
		log.Error("the parent's own")
		if n := strings.Count(b.String(), "\n"); n != PerSubject+1 || !strings.Contains(b.String(), "own") {
			t.Fatalf("%d lines", n)
		}
		b.Reset()
		time.Sleep(Period)
		synctest.Wait()
		if got, want := b.String(), "level=ERROR msg=\"… 9,800 more lines\" session=7\n"; got != want {
			t.Errorf("after the period: %q, want %q", got, want)
		}
	})
}

// TestStrangers are refused from the same host and from many.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		log := logger(&b)
		for i := range 5000 {
			log.Warn("client refused", "from", fmt.Sprint("192.0.2.1:", 1024+i))
		}
		log.Warn("client refused", "from", "[2001:db8::1]:5")
		if n := strings.Count(b.String(), "\n"); n != PerKind+1 {
			t.Errorf("%d lines", n)
		}
		for i := range 20_000 {
			log.Warn("client refused", "from", fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
		}
		if n := strings.Count(b.String(), "\n"); n > 2*PerMessage {
			t.Errorf("%d lines", n)
		}
		if n := kept(log); n > MaxCounts {
			t.Errorf("%d counts are kept", n)
		}
		time.Sleep(2 * Period)
		synctest.Wait()
		log.Info("x", "from", "198.51.100.9:1")
		for i := range MaxCounts {
			log.Info("x", "session", i)
		}
		if n := kept(log); n > MaxCounts {
			t.Errorf("%d counts are kept", n)
		}
	})
}

func kept(log *slog.Logger) int {
	l := log.Handler().(*handler).l
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.counts)
}

func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		log := logger(&b)
		for range PerMessage + 3 {
			log.Info("tick")
		}
		b.Reset()
		Flush(log.With("a", 1))
		Flush(log)
		if got, want := b.String(), "level=INFO msg=\"tick … 3 more like this\"\n"; got != want {
			t.Errorf("flushed: %q, want %q", got, want)
		}
		Flush(slog.New(slog.DiscardHandler)) // no limit, nothing held
	})
}

func TestConcurrent(t *testing.T) {
	var b buffer
	log := logger(&b)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			log := log.With("session", i)
			for j := range 1000 {
				log.Warn(fmt.Sprint(j % 3))
				if j%100 == 0 {
					Flush(log)
				}
			}
		})
	}
	wg.Wait()
	if New(log.Handler()) != log.Handler() {
		t.Error("limited twice")
	}
}

// TestHandler is slog's own test of handlers.
func TestHandler(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return New(slog.NewJSONHandler(&b, nil))
	}, func(t *testing.T) map[string]any { return decode(t, b.Bytes()) })
}

func decode(t *testing.T, b []byte) (m map[string]any) {
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
