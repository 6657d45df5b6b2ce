package wire

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// kernelTLS is the transport over a socket whose records the kernel makes and takes apart (linux/tls.h). Only records without data come here.
type kernelTLS struct {
	socket   *socket
	in       *tlsrecord.Reader // for what records without data say; of whoever reads
	plain    []byte            // data that was read before somebody wanted it
	part     []byte            // the first byte of an alert, if that is all that has come
	useless  int               // records without data since the last one with
	inErr    error
	ready    atomic.Bool // plain or inErr
	owed     atomic.Bool // the peer wants this side to update its key
	mu       sync.Mutex  // of all below
	out      *tlsrecord.Half
	records  uint64 // at most, under the key
	limit    uint64
	ended    bool
	inBytes  atomic.Uint64
	outBytes atomic.Uint64
}

// newKernelTLS gives the socket's records to the kernel; on an error the socket is as it was.
func newKernelTLS(s *socket, st *tlsrecord.State) (*kernelTLS, error) {
	in, err := st.Reader(0)
	if err != nil {
		return nil, err
	}
	w, err := st.Writer(0)
	if err != nil {
		return nil, err
	}
	t := &kernelTLS{socket: s, in: in, plain: append([]byte(nil), st.Plain...), out: w.Half(), records: w.Half().Seq, limit: w.Half().Suite.Limit()}
	rx, err := cryptoInfo(in.Half())
	if err != nil {
		return nil, err
	}
	tx, err := cryptoInfo(t.out)
	if err != nil {
		return nil, err
	}
	if err := unix.SetsockoptString(s.fd, unix.IPPROTO_TCP, unix.TCP_ULP, "tls"); err != nil {
		return nil, err // from here on it works, or the connection does not
	}
	if err := errors.Join(setKey(s.fd, tlsTX, tx), setKey(s.fd, tlsRX, rx)); err != nil {
		return nil, &kernelError{err}
	}
	in.Owed = func() { t.owed.Store(true) }
	in.Updated = func() error {
		if err := in.Half().Update(); err != nil {
			return err
		}
		info, err := cryptoInfo(in.Half())
		if err != nil {
			return err
		}
		return setKey(s.fd, tlsRX, info)
	}
	t.owed.Store(st.Owed)
	t.ready.Store(len(t.plain) > 0)
	return t, nil
}

// kernelError says that a socket is the kernel's, and of no use.
type kernelError struct{ err error }

func (e *kernelError) Error() string { return "kernel TLS: " + e.err.Error() }

func (t *kernelTLS) read(p []byte) (int, error) {
	for len(p) > 0 {
		if n := copy(p, t.plain); n > 0 {
			t.plain = t.plain[n:]
			return t.got(n, nil)
		}
		if t.inErr != nil {
			return t.got(0, t.inErr)
		}
		n, err := t.receive(p, 0)
		if n > 0 {
			return t.got(n, nil)
		}
		t.inErr = err
	}
	return 0, nil
}

func (t *kernelTLS) got(n int, err error) (int, error) {
	t.ready.Store(len(t.plain) > 0 || t.inErr != nil)
	t.inBytes.Add(uint64(n))
	return n, t.explain(err)
}

// explain makes of what the kernel says of a record what package tlsrecord would, and tells the peer.
func (t *kernelTLS) explain(err error) error {
	switch {
	case errors.Is(err, unix.EBADMSG):
		err = &tlsrecord.Error{Alert: tlsrecord.BadRecordMAC, What: "a record that was changed on its way"}
	case errors.Is(err, unix.EMSGSIZE):
		err = &tlsrecord.Error{Alert: tlsrecord.RecordOverflow, What: "a record that is too long"}
	case errors.Is(err, unix.EINVAL):
		err = &tlsrecord.Error{Alert: tlsrecord.UnexpectedMessage, What: "something that is no record of TLS 1.3"}
	}
	if e := (*tlsrecord.Error)(nil); errors.As(err, &e) {
		t.alert(e.Alert)
	}
	return recordError(err)
}

// receive reads data into p, or does what a record without says: 0 without an error.
func (t *kernelTLS) receive(p []byte, flags int) (int, error) {
	var oob [64]byte
	n, oobn, got, err := recvmsg(t.socket.fd, p, oob[:], flags)
	switch {
	case err == unix.EINTR:
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0 && oobn == 0:
		return 0, tlsrecord.ErrTruncated
	}
	t.socket.in.Add(uint64(n))
	kind := tlsrecord.Data
	if h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0])); oobn >= unix.CmsgSpace(1) && h.Level == unix.SOL_TLS && h.Type == tlsGetRecordType {
		kind = tlsrecord.Type(oob[unix.CmsgLen(0)])
	}
	if kind == tlsrecord.Data && n > 0 {
		t.useless = 0
		return n, nil
	}
	if t.useless++; t.useless > tlsrecord.MaxUseless {
		return 0, &tlsrecord.Error{Alert: tlsrecord.UnexpectedMessage, What: "many records without data"}
	}
	if kind == tlsrecord.Data {
		return 0, nil
	}
	b := append(t.part, p[:n]...)
	t.part = nil
	if kind == tlsrecord.Alert && len(b) == 1 && got&unix.MSG_EOR == 0 { // the rest of it did not fit
		t.part = b
		return 0, nil
	}
	return 0, t.in.Control(kind, b)
}

func recvmsg(fd int, p, oob []byte, flags int) (n, oobn, got int, err error) {
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	h := unix.Msghdr{Iov: &iov, Control: &oob[0]}
	h.SetIovlen(1)
	h.SetControllen(len(oob))
	r, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&h)), uintptr(flags))
	if e != 0 {
		return 0, 0, 0, e
	}
	return int(r), int(h.Controllen), int(h.Flags), nil
}

func (t *kernelTLS) tryWrite(a, b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return 0, net.ErrClosed
	}
	if len(a)+len(b) == 0 {
		return 0, nil
	}
	if t.owed.Load() || t.records >= t.limit {
		if err := t.update(); err != nil {
			return 0, err
		}
	}
	n, err := t.socket.tryWrite(a, b)
	t.records += uint64(n/tlsrecord.MaxPlain) + 1
	t.outBytes.Add(uint64(n))
	return n, err
}

// update tells the peer that the next key is used from here on, and has the kernel use it.
func (t *kernelTLS) update() error {
	switch err := t.control(tlsrecord.Handshake, tlsrecord.KeyUpdate); {
	case err == unix.EAGAIN:
		return errAgain
	case err != nil:
		return err
	}
	t.owed.Store(false)
	if err := t.out.Update(); err != nil {
		return err
	}
	info, err := cryptoInfo(t.out)
	if err != nil {
		return err
	}
	t.records = 0
	return setKey(t.socket.fd, tlsTX, info)
}

// control sends a record without data.
func (t *kernelTLS) control(kind tlsrecord.Type, p []byte) error {
	oob := make([]byte, unix.CmsgSpace(1))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0]))
	h.Level, h.Type = unix.SOL_TLS, tlsSetRecordType
	h.SetLen(unix.CmsgLen(1))
	oob[unix.CmsgLen(0)] = byte(kind)
	return unix.Sendmsg(t.socket.fd, p, oob, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// alert sends one behind all else, if the socket takes it, and nothing more.
func (t *kernelTLS) alert(code tlsrecord.AlertCode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.ended = true
		_ = t.control(tlsrecord.Alert, code.Bytes()) // the peer sees the end of the connection all the same
	}
}

// wait for something to read is for whoever reads: what is there may be a record without data.
func (t *kernelTLS) wait(want readiness, d time.Duration) readiness {
	for end := time.Now().Add(d); want&readable != 0; {
		if len(t.plain) > 0 || t.inErr != nil {
			return readable
		}
		got := t.socket.wait(want, d)
		if got&readable == 0 {
			return got
		}
		p := make([]byte, tlsrecord.MaxPlain)
		n, err := t.receive(p, unix.MSG_DONTWAIT)
		if err != unix.EAGAIN {
			t.plain, t.inErr = p[:n], err
		}
		t.ready.Store(len(t.plain) > 0 || t.inErr != nil)
		if got&writable != 0 && !t.ready.Load() {
			return writable
		}
		if d >= 0 {
			d = max(time.Until(end), 0)
		}
	}
	return t.socket.wait(want, d)
}

func (t *kernelTLS) rest(d time.Duration, watch bool) (woken, readable bool) {
	if watch && t.ready.Load() {
		return false, true
	}
	return t.socket.rest(d, watch)
}

func (t *kernelTLS) unread() bool              { return t.ready.Load() || t.socket.wait(readable, 0) != 0 }
func (t *kernelTLS) traffic() (in, out uint64) { return t.inBytes.Load(), t.outBytes.Load() }
func (t *kernelTLS) path() (float64, bool)     { return t.socket.path() }
func (t *kernelTLS) wake()                     { t.socket.wake() }
func (t *kernelTLS) peer() net.Addr            { return t.socket.peer() }
func (t *kernelTLS) close()                    { t.socket.close() }

func (t *kernelTLS) shutdown() {
	t.alert(tlsrecord.CloseNotify)
	t.socket.shutdown()
}

// Numbers of linux/tls.h.
const (
	tlsTX            = 1
	tlsRX            = 2
	tlsSetRecordType = 1
	tlsGetRecordType = 2
	tls13            = 0x0304
	tlsAES128        = 51
	tlsAES256        = 52
	tlsChaCha20      = 54
)

// cryptoInfo is a struct tls12_crypto_info_… of linux/tls.h: u16 version, u16 cipher, iv, key, salt, number of the next record. The salt is the first four
// bytes of the IV with AES-GCM, none with ChaCha20-Poly1305.
func cryptoInfo(h *tlsrecord.Half) ([]byte, error) {
	key, iv, err := h.Suite.Keys(h.Secret)
	if err != nil {
		return nil, err
	}
	number, salt := uint16(tlsAES128), 4
	switch {
	case h.Suite.ChaCha20():
		number, salt = tlsChaCha20, 0
	case len(key) == 32:
		number = tlsAES256
	}
	b := binary.NativeEndian.AppendUint16(nil, tls13)
	b = binary.NativeEndian.AppendUint16(b, number)
	b = append(append(append(b, iv[salt:]...), key...), iv[:salt]...)
	return binary.BigEndian.AppendUint64(b, h.Seq), nil
}

func setKey(fd, direction int, info []byte) error {
	return unix.SetsockoptString(fd, unix.SOL_TLS, direction, string(info))
}

// KernelTLS reports whether the kernel makes the records of TLS 1.3 on this machine: that is wanted (ROCWIRE_KERNEL_TLS=1), and the kernel takes a new key for a connection in use (Linux 6.14): one that
// does not would have to end connections after some hundred gigabytes.
var KernelTLS = sync.OnceValue(func() bool { return os.Getenv("ROCWIRE_KERNEL_TLS") == "1" && kernelRekeys() })

// kernelRekeys tries it.
func kernelRekeys() bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return false
	}
	defer c.Close()
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return false
	}
	defer f.Close()
	if accepted, err := l.Accept(); err == nil {
		defer accepted.Close()
	}
	info := make([]byte, 4+8+16+4+8)
	binary.NativeEndian.PutUint16(info, tls13)
	binary.NativeEndian.PutUint16(info[2:], tlsAES128)
	fd := int(f.Fd())
	if unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_ULP, "tls") != nil || setKey(fd, tlsTX, info) != nil || setKey(fd, tlsRX, info) != nil {
		return false
	}
	info[12] = 1 // another key
	return setKey(fd, tlsTX, info) == nil
}
