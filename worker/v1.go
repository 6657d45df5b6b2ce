package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
)

// Clients of the earlier protocol (package hipv1) are known by the version in the header of their first message. They say nothing of themselves: who they
// are is where they come from.

// errV1 is a client of the earlier protocol.
var errV1 = errors.New("worker: a client of hip-remote v1")

// v1Name is what such a client is called.
const v1Name = "hip-remote v1"

// isV1 reports whether a first frame that was not understood is one of theirs.
func isV1(head wire.Header, err error) bool {
	return errors.Is(err, wire.ErrVersion) && head.Version>>8 == hipv1.Version>>8
}

// firstOf is the header of a message of theirs, nil if it is one of ours.
func firstOf(head wire.Header) []byte {
	if head.Version>>8 != hipv1.Version>>8 {
		return nil
	}
	return head.Append(nil)
}

func headerV1(head wire.Header) hipv1.Header {
	return hipv1.Header{Version: head.Version, Op: hipv1.Op(head.Op), ID: head.ID, Length: head.Length, Flags: hipv1.Flags(head.Flags)}
}

// errOnlyHere is what keeps such clients out that come from elsewhere.
var errOnlyHere = errors.New("clients of hip-remote v1 on other machines are not let in, nor where TLS is wanted: they can neither say who they are nor protect what they send (--allow-v1)")

// greetV1 brings a client to where it belongs, behind the header of its first message.
func (s *Server) greetV1(conn net.Conn, peer wire.Peer, head wire.Header) {
	who, err := s.admitV1(conn, peer)
	from := caller{peer: peer, who: &who}
	if err != nil {
		s.refuseV1(conn, from, head, err)
		return
	}
	if hipv1.Op(head.Op).SMI() {
		next, err := s.manageV1(conn, from, head)
		if err != nil || next == nil {
			return
		}
		head = *next
	}
	if !who.Rights.Has(access.HIP) {
		s.refuseV1(conn, from, head, fmt.Errorf("%w: %s may not use the cards (right %q)", access.ErrRefused, who.String(), access.HIP))
		return
	}
	switch err := s.begin(conn, from, &wire.Hello{Client: v1Name, Purpose: PurposeHIP}, head); {
	case errors.Is(err, errLeft):
		s.refused(from, nil, err)
		_ = conn.Close()
	case err != nil:
		s.refuseV1(conn, from, head, err)
	}
}

// admitV1 says who a client is, and refuses one that may not come in at all.
func (s *Server) admitV1(conn net.Conn, peer wire.Peer) (access.Identity, error) {
	switch {
	case peer.Local() && (s.tls == nil || s.cfg.AllowV1), s.cfg.Insecure && s.cfg.AllowV1:
		return s.access.Identify(s.ctx, access.Caller{Peer: peer, Secure: secured(conn)})
	case !s.cfg.AllowV1:
		return access.Identity{Method: access.Nobody}, fmt.Errorf("%w: %w", access.ErrRefused, errOnlyHere)
	}
	return access.Identity{Method: access.Nobody, Rights: access.Usual}, nil
}

// v1Error is a client of the earlier protocol where TLS was expected, behind the header of its first message.
type v1Error struct{ head wire.Header }

func (e *v1Error) Error() string        { return errV1.Error() }
func (e *v1Error) Is(target error) bool { return target == errV1 }

// plain judges a client that has come without TLS where it is wanted: it is refused, unless it is of the earlier protocol, about which greetV1 decides.
func (s *Server) plain(conn net.Conn) error {
	var b [wire.HeaderSize]byte
	if _, err := io.ReadFull(conn, b[:]); err == nil {
		if h, err := wire.ParseHeader(b[:]); err == nil && h.Version>>8 == hipv1.Version>>8 {
			return errors.Join(&v1Error{h}, conn.SetDeadline(time.Time{}))
		}
	}
	const reason = "this worker takes TLS only: set TF_WORKER_TLS_CA to the CA that has signed its certificate"
	return errors.Join(errors.New("a client without TLS"), wire.Refuse(conn, int32(hip.ErrorNotInitialized), reason))
}

// refuseV1 tells a client in its own terms that it is not let in: a code for an answer, and the end of the connection.
func (s *Server) refuseV1(conn net.Conn, from caller, head wire.Header, err error) {
	s.refused(from, &wire.Hello{Client: v1Name, Purpose: v1Name}, err)
	h := headerV1(head)
	code := int32(refusalCode(err))
	if h.Op.SMI() {
		code = hipv1.SMINotInitialised
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	if b := hipv1.Refusal(h, code); len(b) > 0 {
		_, _ = conn.Write(b) // who does not hear it sees the connection end
	}
	if cw, ok := conn.(interface{ CloseWrite() error }); ok && cw.CloseWrite() == nil {
		// Take what the client has still sent, so that the answer is not lost to a reset.
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = io.CopyN(io.Discard, conn, 64<<10)
	}
	_ = conn.Close()
}

// manageV1 answers a client's questions about cards in this process, until it goes or asks for something else: the header of that is returned.
func (s *Server) manageV1(conn net.Conn, from caller, head wire.Header) (next *wire.Header, err error) {
	leave, err := s.gate.Managers.Take(admission.SourceOf(from.peer), from.who)
	if err == nil && !from.who.Rights.Has(access.Read) {
		leave()
		err = fmt.Errorf("%w: %s may not see what the cards do (right %q)", access.ErrRefused, from.who.String(), access.Read)
	}
	if err != nil {
		s.refuseV1(conn, from, head, err)
		return nil, err
	}
	defer leave()
	s.audit(audit.Manage, from, v1Name, nil)
	stop := context.AfterFunc(s.ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	h := headerV1(head)
	for {
		if err = s.answerV1(conn, h, from.who); err != nil {
			break
		}
		if h, err = readV1(conn); err != nil {
			break
		}
		if !h.Op.SMI() {
			if err = conn.SetDeadline(time.Time{}); err != nil {
				break
			}
			return &wire.Header{Version: h.Version, Op: uint16(h.Op), ID: h.ID, Length: h.Length, Flags: wire.Flags(h.Flags)}, nil
		}
	}
	if !errors.Is(err, io.EOF) {
		s.cfg.Log.Warn("management client", "from", from.peer.String(), "client", v1Name, "error", err)
		if errors.Is(err, hipv1.ErrProtocol) {
			s.gate.Penalties.Add(admission.SourceOf(from.peer), admission.Garbage)
		}
	}
	return nil, errors.Join(err, conn.Close())
}

// readV1 reads the header of a management client's next message, and nothing behind it.
func readV1(conn net.Conn) (hipv1.Header, error) {
	var b [hipv1.HeaderSize]byte
	if err := conn.SetReadDeadline(time.Now().Add(managerSilence)); err != nil {
		return hipv1.Header{}, err
	}
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return hipv1.Header{}, err
	}
	return hipv1.ParseHeader(b[:])
}

// maxQuestion bounds the payload of a question about cards; the longest has eight bytes.
const maxQuestion = 64

// answerV1 reads the rest of a question and answers it.
func (s *Server) answerV1(conn net.Conn, h hipv1.Header, who *access.Identity) error {
	if h.Length > maxQuestion {
		return fmt.Errorf("%w: %v with %d bytes", hipv1.ErrProtocol, h.Op, h.Length)
	}
	b := make([]byte, h.Length)
	if err := conn.SetReadDeadline(time.Now().Add(s.cfg.HelloTimeout)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, b); err != nil {
		return fmt.Errorf("in the middle of %v: %w", h.Op, err)
	}
	code, v := s.cardsV1(who, h.Op, b)
	if h.NoReply() {
		return nil
	}
	if err := conn.SetWriteDeadline(time.Now().Add(managerStall)); err != nil {
		return err
	}
	_, err := conn.Write(hipv1.AppendReply(nil, h, hipv1.Unknown, code, v, 0))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the client does not read its replies: %w", err)
	}
	return err
}

// cardTime is how long a card may take.
const cardTime = 10 * time.Second

// cardsV1 answers a question of somebody's.
func (s *Server) cardsV1(who *access.Identity, op hipv1.Op, payload []byte) (int32, any) {
	c := hipv1.Cards{Source: s.Source()}
	if who.Cards != nil {
		c.Only = append([]int{}, s.cfg.Backend.reached(who)...)
	}
	if s.cfg.Backend.Source == nil {
		c.Source = nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, cardTime)
	defer cancel()
	return c.Answer(ctx, op, payload)
}

// askedV1 answers a question that a session's client has asked there.
func (s *Server) askedV1(rec *sessionRecord, msg []byte) ([]byte, error) {
	d := wire.NewDec(msg[1:])
	id, op := d.U32(), hipv1.Op(d.U16())
	payload := d.Bytes()
	if !d.Done() || len(payload) > maxQuestion || !op.SMI() {
		return nil, fmt.Errorf("%w: question about cards", errControl)
	}
	code, v := int32(smi.ErrNoPermission), any(nil)
	if rec.who.Rights.Has(access.Read) {
		code, v = s.cardsV1(&rec.who, op, payload)
	}
	e := wire.Enc{}
	e.U8(msgTold)
	e.U32(id)
	e.I32(code)
	e.Bytes(hipv1.EncodeReply(v))
	return e.B, nil
}
