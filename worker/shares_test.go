package worker

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// memoryFile is a memory file as sessions publish them, or one that can still shrink.
func memoryFile(t *testing.T, size int64, sealed bool) int {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(fd, size); err != nil {
		t.Fatal(err)
	}
	if sealed {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK); err != nil {
			t.Fatal(err)
		}
	}
	return fd
}

// TestShares: a session may publish memory files and nothing else, not more than its share, and withdraw only what is its own; what is published ends
// with it.
func TestShares(t *testing.T) {
	h, a, b := &shares{most: 8 * maxSessionShares}, &proc{}, &proc{}
	pipe, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fd, err := unix.Dup(int(pipe.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	for what, s := range map[string]hip.Shared{
		"a pipe":                       {FD: fd, Size: 4096},
		"a file that can shrink":       {FD: memoryFile(t, 4096, false), Size: 4096},
		"a file that is too short":     {FD: memoryFile(t, 4096, true), Size: 8192},
		"nothing of it":                {FD: memoryFile(t, 4096, true)},
		"no descriptor":                {FD: -1, Size: 4096},
		"a descriptor that is no file": {FD: 1 << 20, Size: 4096},
	} {
		if _, e := h.publish(a, s); e != hip.ErrorInvalidValue {
			t.Errorf("%s was published: %v", what, e)
		}
	}
	token, e := h.publish(a, hip.Shared{FD: memoryFile(t, 4096, true), Size: 4096, Card: 1, Kind: 2})
	if e != hip.Success {
		t.Fatal(e)
	}
	s, e := h.fetch(token)
	if e != hip.Success || s.Size != 4096 || s.Card != 1 || s.Kind != 2 {
		t.Fatalf("fetched %+v, %v", s, e)
	}
	_ = unix.Close(s.FD)
	guess := token
	guess[31] ^= 1
	if _, e := h.fetch(guess); e != hip.ErrorInvalidValue {
		t.Errorf("a guess: %v", e)
	}
	h.withdraw(b, token)
	if s, e = h.fetch(token); e != hip.Success {
		t.Errorf("withdrawn by another: %v", e)
	}
	for range maxSessionShares {
		_, e = h.publish(a, hip.Shared{FD: memoryFile(t, 4096, true), Size: 4096})
	}
	if e != hip.ErrorOutOfMemory {
		t.Errorf("more than a session may publish: %v", e)
	}
	h.forget(a)
	if _, e := h.fetch(token); e != hip.ErrorInvalidValue || len(h.all) != 0 || len(h.held) != 0 {
		t.Errorf("%d entries of %d processes are left, %v", len(h.all), len(h.held), e)
	}
	if err := unix.Fstat(s.FD, &unix.Stat_t{}); err != nil {
		t.Errorf("what was fetched ended with its publisher: %v", err)
	}
	_ = unix.Close(s.FD)
}

// FuzzShare: what a session process asks for, and what the parent answers, is decoded whole or not at all.
func FuzzShare(f *testing.F) {
	f.Add((&shareRequest{ID: 1, Kind: sharePublish, Shared: hip.Shared{Size: 4096, Card: 1, Kind: 2}}).encode()[1:])
	f.Add((&shareRequest{ID: 2, Kind: shareFetch, Token: hip.ShareToken{1}}).encode()[1:])
	f.Add((&shareReply{ID: 3, Code: hip.ErrorInvalidValue}).encode()[1:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var q shareRequest
		if err := q.decode(b); err == nil {
			if string(q.encode()[1:]) != string(b) {
				t.Errorf("%x is %+v", b, q)
			}
		} else if !errors.Is(err, errControl) {
			t.Error(err)
		}
		var a shareReply
		if a.decode(b) == nil && string(a.encode()[1:]) != string(b) {
			t.Errorf("%x is %+v", b, a)
		}
	})
}
