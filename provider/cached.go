package provider

import (
	"context"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// fresh is how old what is answered from memory may be.
const fresh = 100 * time.Millisecond

// cached is the last answer to one question. However many ask at the same moment, it is
// asked once. That nobody answered is told to those who waited and not remembered: the
// next one asks again, or a worker that is back would be taken for one that is not.
type cached[T any] struct {
	mu     sync.Mutex
	value  T
	err    error
	at     time.Time
	flight chan struct{} // closed when the reading under way ends; nil if none is
}

// get answers from memory what is younger than age, and else waits for read, which may
// take longer than the caller has patience: life is the library's context.
func (c *cached[T]) get(ctx, life context.Context, age time.Duration, read func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	if c.flight == nil && !c.at.IsZero() && time.Since(c.at) < age {
		defer c.mu.Unlock()
		return c.value, c.err
	}
	flight := c.flight
	if flight == nil {
		flight = make(chan struct{})
		c.flight = flight
		go func() {
			ctx, cancel := context.WithTimeout(life, patience)
			defer cancel()
			v, err := protect(func() (T, error) { return read(ctx) })
			c.mu.Lock()
			c.value, c.err, c.at, c.flight = v, err, time.Now(), nil
			if !answered(err) {
				c.at = time.Time{}
			}
			c.mu.Unlock()
			close(flight)
		}()
	}
	c.mu.Unlock()
	select {
	case <-flight:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.value, c.err
	case <-ctx.Done():
		var none T
		return none, smi.Errorf(smi.ErrTimeout, "no answer in time")
	}
}

// answered says whether an error, or none, is what the source answered, and not that it
// did not.
func answered(err error) bool {
	if err == nil {
		return true
	}
	switch smi.CodeOf(err) {
	case smi.ErrNotSupported, smi.ErrNoPermission, smi.ErrNotFound, smi.ErrInvalid, smi.ErrNoDriver:
		return true
	}
	return false
}

// forget makes the next one ask.
func (c *cached[T]) forget() {
	c.mu.Lock()
	c.at = time.Time{}
	c.mu.Unlock()
}

// protect turns a panic of a source into an error: it must not end the host.
func protect[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = smi.Errorf(smi.ErrInternal, "panic: %v", p)
		}
	}()
	return f()
}
