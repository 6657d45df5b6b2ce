package worker

import (
	"fmt"
	"net"
	"slices"

	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
)

// authority is who decides whom the server believes.
func (c *Config) authority() (*access.Authority, error) {
	a := c.Access
	a.Insecure, a.Log, a.Card = c.Insecure, c.Log, c.Backend.position
	if c.Insecure && c.AllowSet {
		a.Open = access.All
	}
	return access.New(a)
}

// admit says who a client is, and refuses one that may not have what it has come for.
func (s *Server) admit(conn net.Conn, peer wire.Peer, hello *wire.Hello) (access.Identity, error) {
	token := hello.Token
	hello.Token = "" // nobody else has a use for it, a session process least
	who, err := s.access.Identify(s.ctx, access.Caller{Peer: peer, Secure: secured(conn), Certificate: certificate(conn), Token: token})
	if err != nil {
		return who, err
	}
	want, what := access.HIP, "use the cards"
	switch hello.Purpose {
	case PurposeHIP:
	case PurposeSMI:
		want, what = access.Read, "see what the cards do"
	default:
		return who, &purposeError{printable(hello.Purpose, 64)}
	}
	if !who.Rights.Has(want) {
		return who, fmt.Errorf("%w: %s may not %s (right %q)", access.ErrRefused, who.String(), what, want)
	}
	return who, nil
}

// purposeError is a purpose that nothing is served for.
type purposeError struct{ purpose string }

func (e *purposeError) Error() string { return fmt.Sprintf("purpose %q is not served here", e.purpose) }

// visitor is who a management client is to the handler of its questions.
func (s *Server) visitor(peer wire.Peer, who *access.Identity) smiremote.Visitor {
	v := smiremote.Visitor{From: peer.String(), Name: who.Name, Method: string(who.Method), Set: who.Rights.Has(access.Set), Kill: who.Rights.Has(access.Kill), Issue: who.Rights.Has(access.Issue)}
	switch who.Method {
	case access.Nobody, access.Local, access.Socket:
		v.Inject = true // simulated cards are there for that
	default:
		v.Inject = v.Set
	}
	if who.Cards != nil {
		v.Cards = append([]int{}, s.cfg.Backend.reached(who)...)
	}
	return v
}

// reached are the cards, by index, that an identity may use; nil if they are not known.
func (b *Backend) reached(who *access.Identity) []int {
	if who.Cards == nil {
		return b.Devices
	}
	var list []int
	for i, d := range b.Devices {
		if slices.Contains(who.Cards, i) {
			list = append(list, d)
		}
	}
	return list
}
