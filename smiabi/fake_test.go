package smiabi

import (
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// opened is the library over src, for tests that call the Go functions themselves.
func opened(t *testing.T, src smi.Source) call {
	t.Helper()
	l, err := open(src)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return call{ctx: t.Context(), lib: l, end: func() {}}
}

// faked is the library over smitest's two cards.
func faked(t *testing.T) (call, *smitest.Fake) {
	t.Helper()
	f := smitest.NewFake(smitest.Cards()...)
	return opened(t, f), f
}

// text is a C string in an array.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b) + " (no NUL)"
}

// ok ends the test if a call did not succeed.
func ok(t *testing.T, st status) {
	t.Helper()
	if st != AMDSMI_STATUS_SUCCESS {
		t.Fatalf("%s (%d)", statusNames[st], st)
	}
}
