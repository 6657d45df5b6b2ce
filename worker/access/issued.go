package access

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
)

// Bounds of the issued tokens.
const (
	maxIssued     = 4096
	maxIssuedFile = 16 << 20
)

// issuedTokens are tokens that were issued while the worker runs, kept in a file that nobody else can read.
type issuedTokens struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	list []issuedToken // by id
}

type issuedToken struct {
	smi.Token
	digest [sha256.Size]byte
}

// openIssued reads the file, which need not be there yet. What has expired is left out.
func openIssued(path string, now func() time.Time) (*issuedTokens, error) {
	t := &issuedTokens{path: path, now: now}
	b, err := readIssued(path)
	if err == nil {
		t.list, err = parseIssued(b, now())
	}
	if errors.Is(err, os.ErrNotExist) { // whether it can be written shows now, not when the first job begins
		err = t.keep(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("issued tokens: %w", err)
	}
	return t, nil
}

func readIssued(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w (mode %04o): chmod 600", path, ErrReadable, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxIssuedFile+1))
	if len(b) > maxIssuedFile {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxIssuedFile)
	}
	return b, err
}

// parseIssued reads a file's content.
func parseIssued(b []byte, now time.Time) ([]issuedToken, error) {
	var all []smi.Token
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, errors.New("the file is not what a worker has written")
	}
	if len(all) > maxIssued {
		return nil, fmt.Errorf("more than %d tokens", maxIssued)
	}
	var list []issuedToken
	for _, t := range all {
		if !t.Expires.After(now) {
			continue
		}
		n, err := newIssued(t, now)
		if err != nil {
			return nil, fmt.Errorf("token %q: %w", printed(t.ID), err)
		}
		list, err = with(list, n)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func newIssued(t smi.Token, now time.Time) (n issuedToken, err error) {
	if err := t.Check(now); err != nil {
		return n, err
	}
	n.Token = t
	_, err = hex.Decode(n.digest[:], []byte(t.SHA256))
	return n, err
}

// with is list with a token in the place of the one of its id.
func with(list []issuedToken, t issuedToken) ([]issuedToken, error) {
	if slices.ContainsFunc(list, func(o issuedToken) bool { return o.digest == t.digest && o.ID != t.ID }) {
		return nil, smi.Errorf(smi.ErrInvalid, "another token has that sha256")
	}
	i, found := slices.BinarySearchFunc(list, t.ID, func(o issuedToken, id string) int { return cmp.Compare(o.ID, id) })
	if found {
		list = slices.Clone(list)
		list[i] = t
		return list, nil
	}
	if len(list) >= maxIssued {
		return nil, smi.Errorf(smi.ErrBusy, "%d tokens have been issued: take some back", len(list))
	}
	return slices.Insert(slices.Clone(list), i, t), nil
}

// living are those that have not expired; with t.mu.
func (t *issuedTokens) living() []issuedToken {
	now := t.now()
	return slices.DeleteFunc(slices.Clone(t.list), func(o issuedToken) bool { return !o.Expires.After(now) })
}

// keep writes the list, and takes it if that was possible; with t.mu.
func (t *issuedTokens) keep(list []issuedToken) error {
	all := make([]smi.Token, len(list))
	for i := range list {
		all[i] = list[i].Token
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if len(b) > maxIssuedFile {
		return smi.Errorf(smi.ErrBusy, "the tokens that have been issued take more than %d bytes: take some back", maxIssuedFile)
	}
	if err := wholefile.Write(t.path, b, 0o600); err != nil {
		return err
	}
	t.list = list
	return nil
}

func (t *issuedTokens) issue(n smi.Token) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := newIssued(n, t.now())
	if err != nil {
		return err
	}
	list, err := with(t.living(), e)
	if err != nil {
		return err
	}
	return t.keep(list)
}

// revoke takes a token back.
func (t *issuedTokens) revoke(id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.living()
	less := slices.DeleteFunc(slices.Clone(list), func(o issuedToken) bool { return o.ID == id })
	if len(less) == len(list) {
		return smi.Errorf(smi.ErrNotFound, "no token %q has been issued", printed(id))
	}
	return t.keep(less)
}

// all is the list, without the digests.
func (t *issuedTokens) all() []smi.Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []smi.Token{}
	for _, o := range t.living() {
		o.SHA256 = ""
		list = append(list, o.Token)
	}
	return list
}

// holds reports whether a token is good: another of the same id is another.
func (t *issuedTokens) holds(id string, digest [sha256.Size]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	return slices.ContainsFunc(t.list, func(o issuedToken) bool { return o.ID == id && o.digest == digest && o.Expires.After(now) })
}

// find looks for a token as Rules.find does: how long that takes says nothing about those there are.
func (t *issuedTokens) find(presented string) *issuedToken {
	d := sha256.Sum256([]byte(presented))
	t.mu.Lock()
	defer t.mu.Unlock()
	at := -1
	for i := range t.list {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(d[:], t.list[i].digest[:]), i, at)
	}
	if at < 0 {
		return nil
	}
	found := t.list[at]
	return &found
}

// ofIssued is who a client with an issued token is. Its cards are looked for each time: the worker may serve others after a restart.
func (a *Authority) ofIssued(ctx context.Context, t *issuedToken) (Identity, error) {
	id := Identity{
		Name: t.User, Method: IssuedToken, Issued: t.ID, Job: t.Job, Pod: t.Pod, Namespace: t.Namespace, Rights: Usual, Cards: []int{}, Quota: t.Quota, QuotaGroup: t.QuotaGroup, Expires: t.Expires,
		digest: t.digest,
	}
	if !a.cfg.Now().Before(t.Expires) {
		return id, refusef("the token %q has expired on %s", t.ID, t.Expires.UTC().Format(time.RFC3339))
	}
	for _, uuid := range t.Cards {
		n, err := a.cfg.Card(ctx, uuid)
		if err != nil {
			return id, refusef("the token %q is for a card that this worker does not serve now: %s", t.ID, uuid)
		}
		id.Cards = append(id.Cards, n)
	}
	slices.Sort(id.Cards)
	id.Cards = slices.Compact(id.Cards)
	return id, nil
}

// errNotIssued is smi.ErrNotSupported.
func errNotIssued() error {
	return smi.Errorf(smi.ErrNotSupported, "the worker was started without --issued-tokens")
}

// Issue lets in whoever has a token from now on. by are the cards of whom wants it, nil for all: nobody gives others more than
// they have themselves. It answers the how many-th each of the cards is of those that the worker serves.
func (a *Authority) Issue(ctx context.Context, t smi.Token, by []string) (places []int, err error) {
	if a.issued == nil {
		return nil, errNotIssued()
	}
	if err := t.Check(a.cfg.Now()); err != nil {
		return nil, err
	}
	for _, uuid := range t.Cards {
		n, err := a.cfg.Card(ctx, uuid)
		if err != nil {
			return nil, err
		}
		places = append(places, n)
		if by != nil && !slices.Contains(by, uuid) {
			return nil, smi.Errorf(smi.ErrNoPermission, "no token for a card that one may not use: %s", uuid)
		}
	}
	return places, a.issued.issue(t)
}

// Holds reports whether the issued token that somebody came in with is still good.
func (a *Authority) Holds(who *Identity) bool {
	return a.issued != nil && a.issued.holds(who.Issued, who.digest)
}

// Revoke takes back a token that was issued. Sessions that began with it are their owner's to end.
func (a *Authority) Revoke(id string) error {
	if a.issued == nil {
		return errNotIssued()
	}
	return a.issued.revoke(id)
}

// IssuedTokens are those that have not expired, without their digests, by id.
func (a *Authority) IssuedTokens() ([]smi.Token, error) {
	if a.issued == nil {
		return nil, errNotIssued()
	}
	return a.issued.all(), nil
}
