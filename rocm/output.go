package rocm

/*
#include <stdio.h>

static void rocm_flush(void) { fflush(stdout); }
*/
import "C"

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// Output is what kernels print. A library writes it to its process's standard
// output, which is a pipe from CaptureOutput on, and gives it to who takes it.
// What it writes to standard error, messages of assertions and its own, stays there.
type Output struct {
	fd int // the pipe's reading end

	mu   sync.Mutex // one reader at a time: text stays in order
	take func(stderr bool, text []byte)
	buf  [16 << 10]byte
}

// CaptureOutput makes this process's standard output a pipe, for good. Nobody but
// a library may write there.
func CaptureOutput() (*Output, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("rocm: a pipe for what kernels print: %w", err)
	}
	err := unix.Dup3(p[1], 1, 0)
	_ = unix.Close(p[1])
	if err == nil {
		err = unix.SetNonblock(p[0], true)
	}
	if err != nil {
		_ = unix.Close(p[0])
		return nil, fmt.Errorf("rocm: standard output as a pipe: %w", err)
	}
	return &Output{fd: p[0]}, nil
}

// To begins to give text to take, as it comes and at each Settle, in order.
func (o *Output) To(take func(stderr bool, text []byte)) {
	o.mu.Lock()
	o.take = take
	o.mu.Unlock()
	go func() { // who prints much does not wait for somebody to synchronize
		for {
			p := []unix.PollFd{{Fd: int32(o.fd), Events: unix.POLLIN}}
			if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
				return
			}
			if !o.drain() {
				return
			}
		}
	}()
}

// Settle gives on what the library has written until now. When it returns, take
// has had it.
func (o *Output) Settle() {
	C.rocm_flush()
	o.drain()
}

// drain takes what is in the pipe; false if there will be no more.
func (o *Output) drain() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.take != nil {
		n, err := unix.Read(o.fd, o.buf[:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return true
		case err != nil || n <= 0:
			return false
		default:
			o.take(false, o.buf[:n])
		}
	}
	return false
}
