package provider

/*
#include <stdlib.h>
#include "callback.h"
*/
import "C"

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// logVariable says from which level on the host is told: debug, info, warn or error.
const logVariable = "ROCWIRE_ACCELERATOR_LOG"

// messages are those that the host was not told yet.
var messages = &queue{tell: tellHost}

// logger is a log that the host is told.
func logger(getenv func(string) string) *slog.Logger {
	least := slog.LevelInfo
	if l := getenv(logVariable); l != "" {
		if err := least.UnmarshalText([]byte(l)); err != nil {
			least = slog.LevelInfo
		}
	}
	return slog.New(&handler{queue: messages, least: least})
}

// levelName is how TensorFusion calls a level. FATAL is never used: it ends the host.
func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARN"
	}
	return "ERROR"
}

// tellHost calls the host's callback. Without one, what a person should know goes to
// standard error.
func tellHost(level, text string) {
	l, t := C.CString(level), C.CString(text)
	defer C.free(unsafe.Pointer(l))
	defer C.free(unsafe.Pointer(t))
	if !C.rw_accel_tell(l, t) && level != "DEBUG" && level != "INFO" {
		fmt.Fprintf(os.Stderr, "rocwire accelerator: %s: %s\n", level, text)
	}
}

// Bounds of what is kept for the host.
const (
	maxMessages = 256
	maxMessage  = 2048 // bytes
	// again is how long the same text is not told again: the host asks twice a second,
	// and what is wrong stays wrong.
	again = time.Minute
)

// queue hands messages to the host, one at a time and in order, never while a lock of
// the library is held: the callback may call the library.
type queue struct {
	tell func(level, text string)

	mu      sync.Mutex
	list    []message
	lost    int
	told    map[message]time.Time
	telling sync.Mutex
}

type message struct{ level, text string }

// add keeps a message, unless the host was told the same a moment ago.
func (q *queue) add(m message, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.told == nil {
		q.told = map[message]time.Time{}
	}
	if t, ok := q.told[m]; ok && now.Sub(t) < again {
		return
	}
	if len(q.told) >= maxMessages {
		for k, t := range q.told {
			if now.Sub(t) >= again || len(q.told) >= 2*maxMessages {
				delete(q.told, k)
			}
		}
	}
	q.told[m] = now
	if len(q.list) >= maxMessages {
		q.lost++
		return
	}
	q.list = append(q.list, m)
}

// deliver tells the host what it was not told, unless somebody else does so.
func (q *queue) deliver() {
	for q.waiting() && q.telling.TryLock() {
		func() {
			defer q.telling.Unlock()
			for {
				q.mu.Lock()
				list, lost := q.list, q.lost
				q.list, q.lost = nil, 0
				q.mu.Unlock()
				if len(list) == 0 {
					return
				}
				for _, m := range list {
					q.tell(m.level, m.text)
				}
				if lost > 0 {
					q.tell("WARN", fmt.Sprintf("%d messages were lost", lost))
				}
			}
		}()
	}
}

func (q *queue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) > 0
}

// handler is a slog.Handler that writes lines like slog's for people.
type handler struct {
	queue *queue
	least slog.Level
	with  []func(slog.Handler) slog.Handler
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.least }

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	var b bytes.Buffer
	var t slog.Handler = slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: h.least,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
				return slog.Attr{} // the host has its own
			}
			return a
		},
	})
	for _, f := range h.with {
		t = f(t)
	}
	if err := t.Handle(ctx, r); err != nil {
		return err
	}
	line := strings.TrimSpace(r.Message + ": " + strings.TrimSpace(b.String()))
	line = strings.TrimSuffix(line, ":")
	line = strings.Map(func(r rune) rune { // one line of text, whatever a worker told
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
	h.queue.add(message{levelName(r.Level), strings.ToValidUTF8(line[:min(len(line), maxMessage)], "")}, time.Now())
	// A call tells the host when it ends; what happens between calls is told from here.
	go func() {
		time.Sleep(time.Millisecond)
		h.queue.deliver()
	}()
	return nil
}

func (h *handler) WithAttrs(as []slog.Attr) slog.Handler {
	return h.and(func(t slog.Handler) slog.Handler { return t.WithAttrs(as) })
}

func (h *handler) WithGroup(name string) slog.Handler {
	return h.and(func(t slog.Handler) slog.Handler { return t.WithGroup(name) })
}

func (h *handler) and(f func(slog.Handler) slog.Handler) slog.Handler {
	n := *h
	n.with = append(n.with[:len(n.with):len(n.with)], f)
	return &n
}
