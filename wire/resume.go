package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"syscall"
	"time"
)

// FeatureResume lets a connection outlive its transport. A client wants it in its Hello; a server that grants it says the secret in its Welcome.
const FeatureResume = "resume"

// CodeNoSession is the code of a Welcome that refuses a resumption.
const CodeNoSession = -1

const secretSize = 32 // bytes, of the secret and of the proof

// Resumption in a Hello says that it is no new connection, but goes on with one that was cut.
type Resumption struct {
	Session  uint64 `msgpack:"session"`  // of the Welcome
	Attempt  uint64 `msgpack:"attempt"`  // more than that of any attempt before
	Received uint64 `msgpack:"received"` // bytes that the client has got since the Welcome
	Proof    []byte `msgpack:"proof"`    // that the client knows the secret
}

// Prove completes a resumption by the proof.
func (r *Resumption) Prove(secret []byte) { r.Proof = r.prove(secret) }

func (r *Resumption) prove(secret []byte) []byte {
	e := Enc{append([]byte(nil), "rocwire resume"...)}
	e.U64(r.Session)
	e.U64(r.Attempt)
	e.U64(r.Received)
	m := hmac.New(sha256.New, secret)
	m.Write(e.B)
	return m.Sum(nil)
}

func (r *Resumption) check() error {
	if r != nil && len(r.Proof) != secretSize {
		return violation(Header{}, "Hello: a proof of %d bytes", len(r.Proof))
	}
	return nil
}

// endure prepares a server's connection for being cut, and completes the Welcome.
func (s *ServerConn) endure(w *Welcome) {
	w.Secret = make([]byte, secretSize)
	_, _ = rand.Read(w.Secret) // never fails
	s.secret, s.session = w.Secret, w.Session
}

// Closed reports whether a connection was cut by the peer's side, or by somebody between who said so: most such ends are of programs that were killed.
func Closed(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, syscall.ECONNRESET) || errors.Is(cause, syscall.EPIPE)
}

// park waits for a client whose connection was cut.
func (s *ServerConn) park(cause error) {
	closed := Closed(cause)
	cause = s.explain(cause)
	if s.opt.OnCut != nil {
		s.opt.OnCut(cause, closed)
	}
	if s.lasting.stayedCut(s.opt.Park) {
		reason := "the client has not come back within " + s.opt.Park.String()
		if e := (*Error)(nil); errors.As(cause, &e) {
			reason += " (" + e.Reason + ")"
		}
		s.fail(s.error(ErrLost, reason, cause))
	}
}

// Why a resumption is refused.
var (
	errNotResumable = errors.New("this session cannot be resumed")
	errProof        = errors.New("the proof is wrong, or was used before")
	errGone         = errors.New("what the client lacks is gone")
)

// welcomeTime is how long the answer to a resumption may take to be sent.
const welcomeTime = 5 * time.Second

// Resume goes on over another connection, whose Hello asks for that, and takes conn over. It returns when all has been sent that the client lacked.
// It is an error, and has no effect, unless the client knows the secret.
func (s *ServerConn) Resume(conn net.Conn, hello *Hello) error {
	t, err := newTransport(conn)
	if err != nil {
		return err
	}
	forServer(t, s.opt)
	return s.resume(t, hello, nil)
}

func (s *ServerConn) resume(t transport, hello *Hello, resumed func(cuts uint64)) error {
	cut, cuts, err := s.exchangeTransport(t, hello)
	if err != nil {
		return s.error(ErrRefused, err.Error(), err)
	}
	if resumed != nil {
		resumed(cuts)
	}
	if s.opt.OnResumed != nil {
		s.opt.OnResumed(cut)
	}
	s.lasting.catchUp()
	return nil
}

// exchangeTransport answers the client and puts t in the place of the transport that was cut: so long ago, as the last of so many.
func (s *ServerConn) exchangeTransport(t transport, hello *Hello) (cut time.Duration, cuts uint64, err error) {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	w := Welcome{Session: s.session, Features: []string{FeatureResume}, Protocol: s.out.version}
	if s.checks {
		w.Features = append(w.Features, FeatureIntegrity)
	}
	if err = s.judge(hello.Resume); err != nil {
		w = Welcome{Code: CodeNoSession, Error: err.Error(), Protocol: s.out.version}
	} else { // the old transport may seem alive here when the client has long found it dead
		s.lasting.cutNow(errReplaced)
		w.Received = s.lasting.received()
	}
	b, bad := appendWelcome(nil, &w)
	if bad == nil {
		bad = writeAll(t, b, welcomeTime)
	}
	if err = errors.Join(err, bad); err == nil && s.checks {
		t, err = checkedAs(t, integrity(hello.Sum, crc32.Checksum(b, castagnoli), false))
	}
	if err != nil {
		t.shutdown()
		t.close()
		return 0, 0, err
	}
	cut, cuts = s.lasting.sinceCut(), s.Cuts() // which does not change before there is another transport
	if !s.lasting.replace(t, hello.Resume.Received) {
		return 0, 0, errNotResumable
	}
	return cut, cuts, nil
}

var errReplaced = errors.New("the client has come back over another connection")

// judge decides whether a client may resume.
func (s *ServerConn) judge(r *Resumption) error {
	switch {
	case s.lasting == nil || s.lasting.state.Load() == linkOver:
		return errNotResumable
	case r == nil || r.Session != s.session || !hmac.Equal(r.Proof, r.prove(s.secret)) || r.Attempt <= s.attempt:
		return errProof
	}
	s.attempt = r.Attempt
	if !s.lasting.fits(r.Received) {
		return errGone
	}
	return nil
}

// writeAll sends b over a transport that nobody else uses.
func writeAll(t transport, b []byte, limit time.Duration) error {
	for end := time.Now().Add(limit); len(b) > 0; {
		n, err := t.tryWrite(b, nil)
		switch {
		case err == nil:
			b = b[n:]
		case err != errAgain:
			return err
		case t.wait(writable, max(0, time.Until(end))) == 0 && time.Now().After(end):
			return ErrTimeout
		}
	}
	return nil
}
