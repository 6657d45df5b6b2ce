package smiremote

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// Visitor is the client of one connection: who it is, for the log, and what it may do
// besides looking. Whoever serves the connection knows.
type Visitor struct {
	From         string // address
	Name, Method string // who it is and how that is known; may be empty
	Set          bool   // change cards and quotas, where HandlerOptions.AllowSet lets it
	Kill         bool   // end sessions
	Issue        bool   // issue tokens and take them back
	Inject       bool   // tell simulated cards to fail
	Cards        []int  // indices of the cards that it may change; nil: all
}

// String is who it is, for people.
func (v *Visitor) String() string {
	if v.Name == "" {
		return v.From
	}
	return v.Name + " (" + v.From + ")"
}

// Change is what a visitor wants to be different.
type Change struct {
	Kind    ChangeKind
	What    string // for people
	Session string // that is meant, if it is one
}

// ChangeKind is what kind of change.
type ChangeKind uint8

// The kinds.
const (
	ChangeCard ChangeKind = iota
	ChangeQuota
	ChangeKill
	ChangeFault
	ChangeToken
)

// change does what alters a card.
func (c *conn) change(ctx context.Context, op uint16, index int, b []byte) error {
	what := Change{Kind: ChangeCard}
	err := c.changeCard(ctx, op, index, b, &what)
	what.What = "card " + strconv.Itoa(index) + ": " + what.What
	c.done(what, err)
	return err
}

// describe is a setting for people.
func describe(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

func (c *conn) done(what Change, err error) {
	if f := c.h.opt.Done; f != nil {
		f(&c.who, what, err)
	}
}

// changeCard fills in what it would change.
func (c *conn) changeCard(ctx context.Context, op uint16, index int, b []byte, what *Change) error {
	switch op {
	case opInject:
		what.Kind = ChangeFault
		f, err := decodeFault(b)
		if err != nil {
			return err
		}
		what.What = describe(f)
		if err := c.mayChange(c.who.Inject, index); err != nil {
			return err
		}
		return c.h.shared.Inject(ctx, index, *f)
	case opQuota:
		what.Kind = ChangeQuota
		q, err := decodeQuota(b)
		if err != nil {
			return err
		}
		what.What, what.Session = describe(q.Quota), q.Session
		if err := c.maySet(index); err != nil {
			return err
		}
		return c.h.shared.SetQuota(ctx, index, q.Session, q.Quota)
	}
	s, err := decodeSetting(b)
	if err != nil {
		return err
	}
	what.What = describe(s)
	if err := c.maySet(index); err != nil {
		return err
	}
	return c.h.shared.Set(ctx, index, *s)
}

// maySet is why the visitor may not change a card.
func (c *conn) maySet(index int) error {
	if !c.h.opt.AllowSet {
		return smi.Errorf(smi.ErrNoPermission, "the worker was started without --smi-allow-set")
	}
	return c.mayChange(c.who.Set, index)
}

func (c *conn) mayChange(may bool, index int) error {
	switch {
	case !may:
		return smi.Errorf(smi.ErrNoPermission, "%s may not change cards: that needs the worker's Unix socket as its user or root, or a token with the right %q", c.who.String(), "set")
	case c.who.Cards != nil && !slices.Contains(c.who.Cards, index):
		return smi.Errorf(smi.ErrNoPermission, "%s may not change card %d", c.who.String(), index)
	}
	return nil
}

// kill ends a session. The id was checked to be short.
func (c *conn) kill(id string) error {
	err := c.killSession(id)
	c.done(Change{Kind: ChangeKill, Session: id}, err)
	return err
}

func (c *conn) killSession(id string) error {
	o := &c.h.opt
	switch {
	case o.Kill == nil:
		return smi.Errorf(smi.ErrNotSupported, "there are no sessions here")
	case !c.who.Kill:
		return smi.Errorf(smi.ErrNoPermission, "%s may not end sessions: that needs the worker's Unix socket as its user or root, or a token with the right %q", c.who.String(), "kill")
	case id == "":
		return smi.Errorf(smi.ErrInvalid, "which session?")
	}
	return o.Kill(id, c.who.String())
}
