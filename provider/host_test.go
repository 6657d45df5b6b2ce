package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// sourceHost is a provider's host over one source.
func sourceHost(t *testing.T, src smi.Source) *host {
	t.Helper()
	h := newHost(func(*slog.Logger) (Origin, error) { return Origin{Source: src}, nil }, slog.New(slog.DiscardHandler))
	t.Cleanup(h.shutdown)
	return h
}

// However many ask at once, a source that cannot be opened is tried once, and not again
// at once; AccelInit tries.
func TestInitFails(t *testing.T) {
	var tries atomic.Int32
	h := newHost(func(*slog.Logger) (Origin, error) {
		tries.Add(1)
		return Origin{}, smi.Errorf(smi.ErrNoDriver, "no driver")
	}, slog.New(slog.DiscardHandler))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := h.init(false); !errors.Is(err, smi.ErrNoDriver) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	before := tries.Load()
	if before > 3 { // one, unless this machine stood still for a second
		t.Errorf("%d tries", before)
	}
	if _, err := h.init(true); err == nil || tries.Load() != before+1 {
		t.Errorf("%v, %d tries", err, tries.Load())
	}
}

func TestLifetime(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	h := sourceHost(t, src)
	l := opened(t, h)
	if opened(t, h) != l {
		t.Error("a second library")
	}
	h.shutdown()
	h.shutdown()
	if _, _, err := l.cards(context.Background()); err == nil {
		t.Error("a library that was shut down answers")
	}
	if _, err := h.init(false); err != nil && !errors.Is(err, smi.ErrUnavailable) { // the fake stays closed
		t.Error(err)
	}
}

// However many ask at the same moment, the source is asked once; a reading that hangs
// delays nobody longer than his own patience.
func TestCached(t *testing.T) {
	var c cached[int]
	var reads atomic.Int32
	release := make(chan struct{})
	read := func(context.Context) (int, error) {
		reads.Add(1)
		<-release
		return 7, nil
	}
	life := context.Background()
	short, cancel := context.WithTimeout(life, 10*time.Millisecond)
	defer cancel()
	if _, err := c.get(short, life, time.Hour, read); !errors.Is(err, smi.ErrTimeout) {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if v, err := c.get(life, life, time.Hour, read); v != 7 || err != nil {
				t.Error(v, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if reads.Load() != 1 {
		t.Errorf("%d reads", reads.Load())
	}
	c.forget()
	if v, err := c.get(life, life, time.Hour, func(context.Context) (int, error) { panic("inside") }); !errors.Is(err, smi.ErrInternal) {
		t.Error(v, err)
	}
}

// Messages reach the host in order, one at a time, repeated ones once; the callback may
// log and call the library.
func TestQueue(t *testing.T) {
	var got []string
	q := &queue{}
	log := slog.New(&handler{queue: q, least: slog.LevelDebug})
	q.tell = func(level, text string) {
		got = append(got, level+" "+text)
		if text == "first: a=1" {
			log.Error("from inside")
			q.deliver()
		}
	}
	log.Info("first", "a", 1)
	log.Info("first", "a", 1)
	log.With("b", 2).WithGroup("g").Warn("second\nline\x00", "c", "x y")
	log.Debug("third")
	log.Log(context.Background(), slog.Level(100), strings.Repeat("long ", 1000))
	q.deliver()
	for q.waiting() || !q.telling.TryLock() { // delivered by the handler's own goroutine
		time.Sleep(time.Millisecond)
	}
	q.telling.Unlock()
	want := []string{"INFO first: a=1", "WARN second line : b=2 g.c=\"x y\"", "DEBUG third"}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	if len(got) != 5 || !strings.HasPrefix(got[3], "ERROR long ") || len(got[3]) > maxMessage+8 || got[4] != "ERROR from inside" {
		t.Errorf("%q", got)
	}
	got = nil
	q = &queue{tell: func(_, text string) { got = append(got, text) }}
	for i := range 3 * maxMessages {
		q.add(message{"INFO", fmt.Sprint(i)}, time.Now())
	}
	q.deliver()
	if len(got) != maxMessages+1 || !strings.Contains(got[maxMessages], "messages were lost") || len(q.told) > 2*maxMessages {
		t.Errorf("%d messages, %d known", len(got), len(q.told))
	}
}
