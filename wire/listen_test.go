package wire

import (
	"errors"
	"testing"
)

func TestCheckListen(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "localhost"} {
		if err := CheckListen(host, false); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"", "0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"} {
		if err := CheckListen(host, false); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%q: %v", host, err)
		}
		if err := CheckListen(host, true); err != nil {
			t.Errorf("%q, allowed: %v", host, err)
		}
	}
}
