package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// onKernel has the tests over TLS leave the records to the kernel.
var onKernel bool

// TestKernelTLS: every test of what a connection does with records that the kernel makes, where it does. Where it does not, a socket that was offered
// to it goes on with our own.
func TestKernelTLS(t *testing.T) {
	t.Logf("the kernel makes records (ROCWIRE_KERNEL_TLS=1, and it takes new keys): %v", KernelTLS())
	onTLS, onKernel = true, true
	defer func() { onTLS, onKernel = false, false }()
	_, fd := pair(t)
	tr := under(t, fd)
	if _, is := tr.(*kernelTLS); is != KernelTLS() {
		t.Fatalf("the transport is a %T", tr)
	}
	tr.close()
	if !KernelTLS() {
		t.Run("Notices", TestNotices)
		return
	}
	for name, test := range connectionTests {
		t.Run(name, test)
	}
}

// tcpPair is two connected TCP sockets, as descriptor and as connection.
func tcpPair(t testing.TB) (int, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	return fd, b
}

// TestKernelKeyUpdates: keys change in the middle of much data, both ways, and at the peer's wish, without either end's noticing.
func TestKernelKeyUpdates(t *testing.T) {
	for _, suite := range []uint16{tls.TLS_AES_128_GCM_SHA256, tls.TLS_AES_256_GCM_SHA384, tls.TLS_CHACHA20_POLY1305_SHA256} {
		fd, conn := tcpPair(t)
		s, err := newSocket(fd)
		if err != nil {
			t.Fatal(err)
		}
		n := tlsrecord.Suite(suite).SecretSize()
		one, two := bytes.Repeat([]byte{1}, n), bytes.Repeat([]byte{2}, n)
		tr, err := newRecords(s, &tlsrecord.State{Suite: tlsrecord.Suite(suite), In: one, Out: two, InSeq: 3, OutSeq: 4, Client: true, Kernel: KernelTLS()})
		if err != nil {
			t.Fatal(err)
		}
		if k, ok := tr.(*kernelTLS); ok {
			k.limit = 50
		}
		far := &SecureConn{Conn: conn}
		if err := far.begin(&tlsrecord.State{Suite: tlsrecord.Suite(suite), In: two, Out: one, InSeq: 4, OutSeq: 3}); err != nil {
			t.Fatal(err)
		}
		want := pattern(6 << 20)
		go func() { // what comes goes back, with a new key now and then
			b := make([]byte, 50000)
			for i := 0; ; i++ {
				n, err := far.Read(b)
				if err != nil {
					return
				}
				if i%20 == 19 {
					far.wmu.Lock()
					far.out.Owe()
					far.wmu.Unlock()
				}
				if _, err := far.Write(b[:n]); err != nil {
					return
				}
			}
		}()
		go func() {
			for p := want; len(p) > 0; {
				n, err := tr.tryWrite(p[:min(len(p), 10)], p[min(len(p), 10):])
				if err == errAgain {
					tr.wait(writable, -1)
				} else if err != nil {
					t.Error(err)
					tr.shutdown()
					return
				}
				p = p[n:]
			}
		}()
		got := make([]byte, len(want))
		for n := 0; n < len(got); {
			k, err := tr.read(got[n:])
			if err != nil {
				t.Fatalf("suite %#x: after %d bytes: %v", suite, n, err)
			}
			n += k
		}
		if !bytes.Equal(got, want) {
			t.Errorf("suite %#x: other bytes came back", suite)
		}
		if bytes.Equal(far.in.Half().Secret, two) != !KernelTLS() {
			t.Errorf("suite %#x: this side's key: kernel %v", suite, KernelTLS())
		}
		tr.shutdown()
		tr.close()
		_ = far.Close()
	}
}

// TestCryptoInfo: what the kernel is given is laid out as its header says.
func TestCryptoInfo(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "t.c")
	program := `#include <linux/tls.h>
#include <stddef.h>
#include <stdio.h>
#define S(t) printf("%d %zu %zu %zu %zu %zu\n", c, sizeof(struct t), offsetof(struct t, iv), offsetof(struct t, key), offsetof(struct t, salt), offsetof(struct t, rec_seq))
int main(void) {
	int c = TLS_CIPHER_AES_GCM_128; S(tls12_crypto_info_aes_gcm_128);
	c = TLS_CIPHER_AES_GCM_256; S(tls12_crypto_info_aes_gcm_256);
	c = TLS_CIPHER_CHACHA20_POLY1305; S(tls12_crypto_info_chacha20_poly1305);
	printf("%d %d %d %d %d\n", TLS_1_3_VERSION, TLS_TX, TLS_RX, TLS_SET_RECORD_TYPE, TLS_GET_RECORD_TYPE);
}
`
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-o", filepath.Join(dir, "t"), source).CombinedOutput(); err != nil {
		t.Fatalf("this test needs a C compiler and linux/tls.h: %v\n%s", err, out)
	}
	want, err := exec.Command(filepath.Join(dir, "t")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, suite := range []uint16{tls.TLS_AES_128_GCM_SHA256, tls.TLS_AES_256_GCM_SHA384, tls.TLS_CHACHA20_POLY1305_SHA256} {
		s := tlsrecord.Suite(suite)
		h, err := tlsrecord.NewHalf(s, bytes.Repeat([]byte{1}, s.SecretSize()), 0x0102030405060708)
		if err != nil {
			t.Fatal(err)
		}
		b, err := cryptoInfo(h)
		if err != nil {
			t.Fatal(err)
		}
		key, iv, err := s.Keys(h.Secret)
		if err != nil {
			t.Fatal(err)
		}
		salt := 4
		if s.ChaCha20() {
			salt = 0
		}
		at := []int{bytes.Index(b, iv[salt:]), bytes.Index(b, key), bytes.LastIndex(b, iv[:salt]), bytes.Index(b, []byte{1, 2, 3, 4, 5, 6, 7, 8})}
		if salt == 0 {
			at[2] = at[3]
		}
		got += fmt.Sprintln(binary.NativeEndian.Uint16(b[2:]), len(b), at[0], at[1], at[2], at[3])
	}
	got += fmt.Sprintln(tls13, tlsTX, tlsRX, tlsSetRecordType, tlsGetRecordType)
	if got != string(want) {
		t.Errorf("here:\n%skernel:\n%s", got, want)
	}
}
