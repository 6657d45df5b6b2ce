package loglimit

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// key is what is counted. A message without a subject is everybody's, a subject without a message all that is said of it, neither is what there
// was no room to keep apart.
type key struct{ message, subject string }

// count is one key's in the present period.
type count struct {
	since time.Time
	n     int // passed on
	more  uint64
	to    slog.Handler // of the first line that was not passed on
	level slog.Level
	about slog.Attr // its subject, as far as the handler does not know it
	timer *time.Timer
}

// limiter is shared by all handlers that come from one.
type limiter struct {
	mu     sync.Mutex
	counts map[key]*count
	swept  time.Time // when counts whose period is over were last dropped
}

// take says whether a line may pass, and counts it.
func (l *limiter) take(h *handler, r *slog.Record, subject string, about slog.Attr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var passed [3]*count
	n := 0
	for _, x := range [...]struct {
		key
		limit int
	}{{key{r.Message, subject}, PerKind}, {key{"", subject}, PerSubject}, {key{r.Message, ""}, PerMessage}} {
		if subject == "" && x.limit != PerMessage {
			continue
		}
		k, c, limit := l.find(x.key, x.limit, now)
		if c.n >= limit {
			l.hold(k, c, h, r, about, now)
			return false
		}
		passed[n] = c
		n++
	}
	for _, c := range passed[:n] {
		c.n++
	}
	return true
}

// find is the count of a key. With the lock.
func (l *limiter) find(k key, limit int, now time.Time) (key, *count, int) {
	c := l.counts[k]
	if c == nil && now.Sub(l.swept) >= Period {
		l.sweep(now) // sessions come and go
	}
	if c == nil && len(l.counts) >= MaxCounts-1 { // one is for all the others
		l.sweep(now)
		if len(l.counts) >= MaxCounts-1 {
			k, limit = key{}, PerMessage
			c = l.counts[k]
		}
	}
	if c == nil {
		c = &count{since: now}
		l.counts[k] = c
	}
	if now.Sub(c.since) >= Period && c.more == 0 {
		c.since, c.n = now, 0
	}
	return k, c, limit
}

// sweep drops counts whose period is over, not more often than that can be worth it. With the lock.
func (l *limiter) sweep(now time.Time) {
	if now.Sub(l.swept) < Period/16 {
		return
	}
	l.swept = now
	for k, c := range l.counts {
		if c.more == 0 && now.Sub(c.since) >= Period {
			delete(l.counts, k)
		}
	}
}

// hold counts a line that is not passed on. With the lock.
func (l *limiter) hold(k key, c *count, h *handler, r *slog.Record, about slog.Attr, now time.Time) {
	if c.more++; c.more > 1 {
		return
	}
	c.to, c.level, c.about = h.Handler, r.Level, about
	c.timer = time.AfterFunc(c.since.Add(Period).Sub(now), func() { l.tell(k, c) })
}

// tell says how many lines were not passed on.
func (l *limiter) tell(k key, c *count) {
	l.mu.Lock()
	more, to, level, about := c.more, c.to, c.level, c.about
	c.more, c.to, c.about = 0, nil, slog.Attr{}
	if l.counts[k] == c {
		delete(l.counts, k) // its period is over
	}
	l.mu.Unlock()
	if more == 0 {
		return
	}
	text := " more like this"
	if k.message == "" {
		text = " more lines"
	}
	r := slog.NewRecord(time.Now(), level, k.message+" … "+thousands(more)+text, 0)
	if k.message == "" {
		r.Message = r.Message[len(" "):]
	}
	if k.subject != "" && about.Key != "" {
		r.AddAttrs(about)
	}
	_ = to.Handle(context.Background(), r) // as the lines themselves: nobody else can be told
}

// flush tells at once what was held back so far.
func (l *limiter) flush() {
	l.mu.Lock()
	type held struct {
		k key
		c *count
	}
	var all []held
	for k, c := range l.counts {
		if c.more > 0 && c.timer.Stop() {
			all = append(all, held{k, c})
		}
	}
	l.mu.Unlock()
	for _, x := range all {
		l.tell(x.k, x.c)
	}
}

// thousands writes a number as people read it.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
