package tlsrecord

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/rocwire/rocwire/internal/libcrypto"
)

// TestProviders: records made by crypto/aes are opened by the machine's OpenSSL, and the other way round, over changes of the key, with short and long ones
// among each other; both make the very same bytes, and neither takes what was changed.
func TestProviders(t *testing.T) {
	t.Setenv(libcrypto.Variable, "1")
	if use, why := libcrypto.Use(); !use && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		t.Fatalf("the tests need libcrypto.so.3 (Debian's libssl3): %s", why)
	}
	pieces := [][]byte{noise(5), noise(100 << 10), noise(libcrypto.Long - 1), noise(libcrypto.Long), noise(3 << 20), noise(1), noise(MaxPlain + 1)}
	for _, s := range suites[:2] {
		var made [2][]byte
		for from, by := range []string{"0", "1"} {
			t.Setenv(libcrypto.Variable, by)
			w, _ := halves(t, s)
			w.limit = 40
			for _, p := range pieces {
				made[from] = append(made[from], sealAll(t, w, p)...)
			}
			for _, to := range []string{"0", "1"} {
				t.Setenv(libcrypto.Variable, to)
				_, r := halves(t, s)
				got, err := readAll(r, made[from], func() int { return 70 << 10 }, func() int { return 300 << 10 })
				if err != nil || !bytes.Equal(got, bytes.Join(pieces, nil)) {
					t.Errorf("%#04x: made with %s=%s, opened with %s: %d bytes, %v", uint16(s), libcrypto.Variable, by, to, len(got), err)
				}
				changed := bytes.Clone(made[from])
				changed[len(changed)/2] ^= 4
				_, r = halves(t, s)
				if _, err := readAll(r, changed, func() int { return 70 << 10 }, func() int { return 300 << 10 }); err == nil {
					t.Errorf("%#04x: made with %s, opened with %s: something changed was taken", uint16(s), by, to)
				}
			}
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("%#04x: other records", uint16(s))
		}
	}
}
