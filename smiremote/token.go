package smiremote

import (
	"context"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
)

// Operations about tokens.
const (
	opIssue uint16 = 0x0860 + iota
	opRevoke
	opTokens
)

// TokenIssuer is who lets in programs with tokens that were issued for them.
type TokenIssuer interface {
	// IssueToken lets in whoever has a token from now on. by may use the cards by.Cards and gives no others. Its errors: ErrInvalid; ErrNotFound for a
	// card that is not served; ErrNotSupported where no tokens are issued; ErrNoPermission; ErrBusy if there are too many.
	// It answers, for each of the token's cards, the how many-th it is of those that sessions can see.
	IssueToken(ctx context.Context, t smi.Token, by *Visitor) ([]int, error)
	// RevokeToken takes one back, ends the sessions that began with it and says how many those were; ErrNotFound if there is none of that id.
	RevokeToken(ctx context.Context, id, by string) (ended int, err error)
	// Tokens are those that have not expired, by id, without their digests; ErrNotSupported where none are issued.
	Tokens() ([]smi.Token, error)
}

// mayIssue is why the visitor may not issue tokens.
func (c *conn) mayIssue() error {
	if c.h.opt.Tokens == nil {
		return smi.Errorf(smi.ErrNotSupported, "no tokens are issued here")
	}
	if _, err := c.h.opt.Tokens.Tokens(); err != nil {
		return err
	}
	if !c.who.Issue {
		return smi.Errorf(smi.ErrNoPermission, "%s may not issue tokens: that needs the worker's Unix socket as its user or root, or a token with the right %q", c.who.String(), "issue")
	}
	return nil
}

func (c *conn) issue(ctx context.Context, b []byte) (places []int, err error) {
	var t smi.Token
	if err = unpack(b, &t); err != nil {
		err = request(err)
	} else if err = c.mayIssue(); err == nil {
		places, err = c.h.opt.Tokens.IssueToken(ctx, t, &c.who)
	}
	t.SHA256 = "" // of no use in a record
	c.done(Change{Kind: ChangeToken, What: "issue " + describe(t)}, err)
	return places, err
}

// revoke takes a token back. The id was checked to be short.
func (c *conn) revoke(ctx context.Context, id string) (ended int, err error) {
	if err = c.mayIssue(); err == nil {
		ended, err = c.h.opt.Tokens.RevokeToken(ctx, id, c.who.String())
	}
	c.done(Change{Kind: ChangeToken, What: "revoke " + id}, err)
	return ended, err
}

func (c *conn) tokens() ([]smi.Token, error) {
	if err := c.mayIssue(); err != nil {
		return nil, err
	}
	return c.h.opt.Tokens.Tokens()
}

// IssueToken lets in whoever has a token of that digest from now on: ErrNoPermission where this client may not have that, ErrNotSupported by a worker
// that issues none, ErrNotFound for a card that it does not serve. Issued again, also after a connection that was lost meanwhile, it is the same.
//
// It answers, for each of the token's cards, the how many-th it is of those that sessions can see: a program with the token sees its cards in that order.
func (c *Client) IssueToken(ctx context.Context, t smi.Token) ([]int, error) {
	if err := t.Check(time.Now()); err != nil {
		return nil, err
	}
	b, err := msgpack.Marshal(&t)
	if err != nil {
		return nil, smi.Errorf(smi.ErrInvalid, "%w", err)
	}
	if len(b) > maxRequest {
		return nil, smi.Errorf(smi.ErrInvalid, "a request of %d bytes", len(b))
	}
	return question(ctx, c, opIssue, b, func(b []byte) (places []int, err error) {
		if err = unpack(b, &places); err == nil && len(places) != len(t.Cards) {
			err = smi.Errorf(smi.ErrBadData, "%d places for %d cards", len(places), len(t.Cards))
		}
		return places, err
	})
}

// RevokeToken takes an issued token back, and ends the sessions that began with it: how many those were. ErrNotFound if there is none of that id.
func (c *Client) RevokeToken(ctx context.Context, id string) (ended int, err error) {
	if len(id) > smi.MaxTokenText {
		return 0, smi.Errorf(smi.ErrNotFound, "there is no such token")
	}
	return question(ctx, c, opRevoke, []byte(id), func(b []byte) (n int, err error) {
		err = unpack(b, &n)
		return n, err
	})
}

// Tokens lists the tokens that were issued, without their digests.
func (c *Client) Tokens(ctx context.Context) ([]smi.Token, error) {
	return question(ctx, c, opTokens, nil, func(b []byte) (list []smi.Token, err error) {
		err = unpack(b, &list)
		return list, err
	})
}
