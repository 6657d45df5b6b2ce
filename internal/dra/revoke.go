package dra

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
)

// revocation is a token that is to be taken back. It is noted until its worker has done so: a worker that is away keeps no pod from ending, and no token
// longer than until it expires.
type revocation struct {
	Pool    string    `json:"pool"`
	ID      string    `json:"id"`
	Expires time.Time `json:"expires"`
}

func (n *Node) revocations() string { return filepath.Join(n.Dir, "revoke") }

// revocationFile is where one is noted: ids are ours, and nothing in them but the slashes cannot stand in a name.
func (n *Node) revocationFile(id string) string {
	return filepath.Join(n.revocations(), strings.ReplaceAll(id, "/", "_")+".json")
}

// noteRevocation has a token taken back sooner or later.
func (n *Node) noteRevocation(g *grant) error {
	return writeNote(n.revocationFile(g.Token.ID), &revocation{Pool: g.Pool, ID: g.Token.ID, Expires: g.Token.Expires})
}

// settle takes back the tokens that are to be; which says which, nil for all. The error is of those that have to wait.
func (n *Node) settle(ctx context.Context, which func(*revocation) bool) error {
	entries, err := os.ReadDir(n.revocations())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var due []revocation
	for _, e := range entries {
		r, path := revocation{}, filepath.Join(n.revocations(), e.Name())
		there, err := readNote(path, &r)
		switch {
		case err != nil:
			n.Log.Error("a token that is to be taken back is not known any more", "reason", err)
			_ = os.Remove(path) // it was written whole: somebody else did that
		case there && (which == nil || which(&r)):
			due = append(due, r)
		}
	}
	if len(due) == 0 {
		return nil
	}
	workers, err := n.Workers(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, len(due))
	fleet.SideBySide(len(due), func(i int) { errs[i] = n.revoke(ctx, workers, &due[i]) })
	return errors.Join(errs...)
}

// revoke takes one token back, and with it the sessions that began with it.
func (n *Node) revoke(ctx context.Context, workers []fleet.Worker, r *revocation) error {
	done := func() error { return os.Remove(n.revocationFile(r.ID)) }
	w := workerOf(workers, r.Pool)
	err := fmt.Errorf("worker %s is not known any more", r.Pool)
	if w != nil {
		client := connect(w, n.timeout())
		defer client.Close()
		ctx, cancel := context.WithTimeout(ctx, n.timeout())
		defer cancel()
		_, err = client.RevokeToken(ctx, r.ID)
		if err == nil || errors.Is(err, smi.ErrNotFound) {
			return done()
		}
		err = fmt.Errorf("worker %s: %w", r.Pool, err)
	}
	if !time.Now().Before(r.Expires) {
		n.Log.Warn("a token was not taken back, and has expired", "token", r.ID, "reason", err)
		return done()
	}
	return err
}
