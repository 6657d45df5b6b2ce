package main

import (
	"strings"
	"time"
)

func every(d time.Duration, f func()) (stop func()) {
	t, done := time.NewTicker(d), make(chan struct{})
	go func() {
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = "…" + s[len(s)-n:]
	}
	return strings.ReplaceAll(s, "\n", " | ")
}
