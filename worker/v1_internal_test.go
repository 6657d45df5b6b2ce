package worker

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
)

// elsewhere is a connection from another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

// v1Server is a parent that has no session processes.
func v1Server(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.defaults()
	who, err := cfg.authority()
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Limits.Complete(); err != nil {
		t.Fatal(err)
	}
	gate, err := admission.NewGate(cfg.Limits)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{cfg: cfg, access: who, gate: gate}
	s.ctx, s.cancel = t.Context(), func() {}
	return s
}

// A client of the earlier protocol from another machine is told in its own terms that it is not let in, unless the operator lets it.
func TestV1FromElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		op   hipv1.Op
		want int32 // 0: it is let in
	}{
		"HIP":                          {Config{}, hipv1.OpInit, int32(hip.ErrorNotInitialized)},
		"HIP, whoever comes":           {Config{Insecure: true}, hipv1.OpInit, int32(hip.ErrorNotInitialized)},
		"cards":                        {Config{Insecure: true}, hipv1.OpSMIInit, hipv1.SMINotInitialised},
		"allowed":                      {Config{AllowV1: true}, hipv1.OpInit, 0},
		"allowed, whoever comes":       {Config{AllowV1: true, Insecure: true}, hipv1.OpInit, 0},
		"whoever comes may do nothing": {Config{AllowV1: true, Insecure: true, Access: access.Config{Open: access.Set}}, hipv1.OpInit, int32(hip.ErrorNotInitialized)},
	} {
		t.Run(name, func(t *testing.T) {
			s := v1Server(t, c.cfg)
			ours, theirs := net.Pipe()
			defer ours.Close()
			conn := elsewhere{theirs}
			if c.want == 0 {
				who, err := s.admitV1(conn, wire.PeerOf(conn))
				if err != nil || !who.Rights.Has(access.HIP) || who.Name != "" {
					t.Errorf("%+v, %v", who, err)
				}
				return
			}
			go s.greetV1(conn, wire.PeerOf(conn), wire.Header{Version: hipv1.Version, Op: uint16(c.op), ID: 5})
			_ = ours.SetDeadline(time.Now().Add(time.Minute))
			b := make([]byte, hipv1.HeaderSize+4)
			if _, err := io.ReadFull(ours, b); err != nil {
				t.Fatal(err)
			}
			h, err := hipv1.ParseHeader(b)
			if code := int32(uint32(b[20]) | uint32(b[21])<<8 | uint32(b[22])<<16 | uint32(b[23])<<24); err != nil || h.Op != c.op || h.ID != 5 || h.Length != 4 || code != c.want {
				t.Errorf("%+v, %v, code %d", h, err, code)
			}
			if _, err := ours.Read(b); err != io.EOF {
				t.Errorf("then %v", err)
			}
		})
	}
}

// A session process may be anybody's: what it asks must be a question about cards, and its client must be one who may ask.
func TestV1Questions(t *testing.T) {
	s := v1Server(t, Config{})
	question := func(op uint16, payload []byte) []byte {
		e := wire.Enc{}
		e.U8(msgCards)
		e.U32(9)
		e.U16(op)
		e.Bytes(payload)
		return e.B
	}
	rec := &sessionRecord{who: access.Identity{Rights: access.Usual}}
	for name, msg := range map[string][]byte{
		"no question": {msgCards}, "no end": question(0x0802, nil)[:8], "a call of HIP": question(0x0200, nil), "too long": question(0x0802, make([]byte, 65)),
		"more than one": append(question(0x0802, nil), 0),
	} {
		if _, err := s.askedV1(rec, msg); err == nil {
			t.Errorf("%s was answered", name)
		}
	}
	c := &v1Cards{answers: make(chan v1Answer, 8)}
	for _, x := range []struct {
		rights access.Rights
		want   int32
	}{{access.Usual, hipv1.SMINotInitialised}, {access.HIP, 10}} {
		b, err := s.askedV1(&sessionRecord{who: access.Identity{Rights: x.rights}}, question(0x0802, nil))
		if err != nil {
			t.Fatal(err)
		}
		c.told(b)
		if a := <-c.answers; a.to != 9 || a.code != x.want {
			t.Errorf("%+v, want %d", a, x.want)
		}
	}
	c.told([]byte{msgTold, 1})
	if len(c.answers) != 0 {
		t.Error("half an answer is one")
	}
}
