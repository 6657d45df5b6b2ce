package worker_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/libcrypto"
	"github.com/rocwire/rocwire/smiremote"
)

// TestTLSLibrary: a confined session encrypts and decrypts what is long by the machine's OpenSSL, unless somebody does not want that.
func TestTLSLibrary(t *testing.T) {
	d := keysAt(t)
	for _, use := range []string{"0", "1"} {
		t.Setenv(libcrypto.Variable, use)
		cfg := config()
		cfg.TLS = serverTLS(d)
		w := serve(t, cards(1), cfg)
		set := dialing.Settings{TLS: clientTLS(d)}
		c := connectWith(t, w, hipremote.Config{Dialing: set, NoShare: true})
		const n = 3<<20 + 12345
		p, e := c.Malloc(main0, n)
		must(t, "Malloc", e)
		in, out := bytes.Repeat([]byte("what is sent"), n/12+1)[:n], make([]byte, n)
		must(t, "copy there", c.Memcpy(main0, p, at(in), n, hip.MemcpyHostToDevice))
		must(t, "copy back", c.Memcpy(main0, at(out), p, n, hip.MemcpyDeviceToHost))
		if !bytes.Equal(in, out) {
			t.Errorf("%s=%s: other bytes came back", libcrypto.Variable, use)
		}
		m := smiremote.NewClient(smiremote.Options{Address: w.Addr().String(), Dialing: set})
		list, err := m.Sessions(t.Context())
		m.Close()
		if err != nil || len(list.Sessions) != 1 {
			t.Fatal(list, err)
		}
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", list.Sessions[0].PID))
		if err != nil {
			t.Fatal(err)
		}
		if there := bytes.Contains(maps, []byte("libcrypto.so.3")); there != (use == "1") {
			t.Errorf("%s=%s: libcrypto in the session: %v", libcrypto.Variable, use, there)
		}
	}
}
