package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/worker/access"
)

// tokens is the server as a smiremote.TokenIssuer.
type tokens Server

var _ smiremote.TokenIssuer = (*tokens)(nil)

// IssueToken implements smiremote.TokenIssuer.
func (s *tokens) IssueToken(ctx context.Context, t smi.Token, by *smiremote.Visitor) ([]int, error) {
	var theirs []string // nil: all
	if by.Cards != nil {
		devices, err := s.cfg.Backend.devices(ctx)
		if err != nil {
			return nil, err
		}
		theirs = []string{}
		for _, d := range devices {
			if slices.Contains(by.Cards, d.Index) {
				theirs = append(theirs, d.UUID)
			}
		}
	}
	places, err := s.access.Issue(ctx, t, theirs)
	if err != nil {
		return nil, err
	}
	s.cfg.Log.Info("token issued", "token", t.ID, "user", t.User, "job", t.Job, "pod", t.Pod, "cards", t.Cards, "expires", t.Expires, "by", by.String())
	return places, nil
}

// Tokens implements smiremote.TokenIssuer.
func (s *tokens) Tokens() ([]smi.Token, error) { return s.access.IssuedTokens() }

// RevokeToken implements smiremote.TokenIssuer. A session that begins at this moment ends, too, or does not begin: see stillGood.
func (s *tokens) RevokeToken(ctx context.Context, id, by string) (ended int, err error) {
	err = s.access.Revoke(id)
	if err != nil && !errors.Is(err, smi.ErrNotFound) {
		return 0, err
	}
	known := err == nil
	var failed error
	for {
		again := false
		for _, session := range (*Server)(s).sessionsOf(id) {
			known = true
			switch err := (*Server)(s).KillSession(session, by); {
			case err == nil:
				ended++
			case errors.Is(err, smi.ErrBusy): // it begins, or ends
				again = true
			case !errors.Is(err, smi.ErrNotFound):
				failed = err
			}
		}
		if !again {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ended, smi.Errorf(smi.ErrTimeout, "sessions of the token %q begin or end at this moment", printable(id, smi.MaxTokenText))
		}
	}
	if !known {
		return 0, err
	}
	s.cfg.Log.Info("token revoked", "token", printable(id, smi.MaxTokenText), "sessions", ended, "by", printable(by, 256))
	return ended, failed
}

// sessionsOf are the sessions that began with an issued token.
func (s *Server) sessionsOf(token string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rec := range s.sessions {
		if rec.who.Issued != "" && rec.who.Issued == token {
			ids = append(ids, rec.name())
		}
	}
	return ids
}

// stillGood refuses a client whose token was taken back while its session began.
func (s *Server) stillGood(who *access.Identity) error {
	if who.Issued == "" || s.access.Holds(who) {
		return nil
	}
	return fmt.Errorf("%w: the token %q was taken back", access.ErrRefused, who.Issued)
}

// devices are the cards that sessions use, in the order in which they see them.
func (b *Backend) devices(ctx context.Context) ([]smi.Device, error) {
	if b.Source == nil {
		return nil, smi.Errorf(smi.ErrNotSupported, "without management data no card is known by its UUID")
	}
	all, err := b.Source.Devices(ctx)
	if err != nil || b.Devices == nil {
		return all, err
	}
	var list []smi.Device
	for _, index := range b.Devices {
		i := slices.IndexFunc(all, func(d smi.Device) bool { return d.Index == index })
		if i < 0 {
			return nil, smi.Errorf(smi.ErrNotFound, "there is no card %d", index)
		}
		list = append(list, all[i])
	}
	return list, nil
}

// position is the how many-th of the cards that sessions use one is.
func (b *Backend) position(ctx context.Context, uuid string) (int, error) {
	list, err := b.devices(ctx)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(list, func(d smi.Device) bool { return d.UUID == uuid })
	if i < 0 || uuid == "" {
		return 0, smi.Errorf(smi.ErrNotFound, "no card %s is served here", printable(uuid, smi.MaxTokenText))
	}
	return i, nil
}
