package smi

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
	"unicode"
	"unicode/utf8"
)

// Token lets programs use some cards of a worker, for one purpose and a limited time: a batch job, a pod. Who has it issued makes the secret; the worker
// is told its digest, and nobody can read the secret there.
type Token struct {
	// ID names it. One that is issued with the ID of another takes its place.
	ID string `json:"id" msgpack:"i"`
	// SHA256 is the digest of the secret, 64 hexadecimal digits. It is empty where tokens are listed.
	SHA256 string `json:"sha256,omitempty" msgpack:"s,omitempty"`

	// Whom its sessions belong to. They are shown with that, whatever the program says of itself.
	User      string `json:"user" msgpack:"u"`
	Job       string `json:"job,omitempty" msgpack:"j,omitempty"` // of a batch system, its number there
	Pod       string `json:"pod,omitempty" msgpack:"p,omitempty"`
	Namespace string `json:"namespace,omitempty" msgpack:"n,omitempty"`

	Cards []string `json:"cards" msgpack:"c"`                    // UUIDs of those it is good for; at least one
	Quota Quota    `json:"quota,omitzero" msgpack:"q,omitempty"` // of all its sessions together, on each card
	// QuotaGroup names tokens that have the quota together, such as those of one claim on several nodes; empty: the token has it alone.
	QuotaGroup string `json:"quota_group,omitempty" msgpack:"g,omitempty"`

	Expires time.Time `json:"expires" msgpack:"e"` // sessions that have begun by then go on
}

// Bounds of a Token.
const (
	MaxTokenText  = 128
	MaxTokenCards = 64
	MaxTokenTime  = 100 * 24 * time.Hour // from now to Expires
)

// tokenPrefix lets people, and programs that look for secrets in the wrong places, recognise a token.
const tokenPrefix = "rocwire_"

// NewTokenSecret makes a secret of 256 random bits, and its digest for Token.SHA256.
func NewTokenSecret() (secret, digest string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // does not fail
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	d := sha256.Sum256([]byte(secret))
	return secret, hex.EncodeToString(d[:])
}

// Check says what is wrong with a token that is to be issued now: ErrInvalid.
func (t *Token) Check(now time.Time) error {
	for what, s := range map[string]string{"id": t.ID, "user": t.User, "job": t.Job, "pod": t.Pod, "quota group": t.QuotaGroup, "namespace": t.Namespace} {
		if !printable(s) || len(s) > MaxTokenText {
			return Errorf(ErrInvalid, "a token's %s has at most %d characters, which can be printed", what, MaxTokenText)
		}
	}
	if d, err := hex.DecodeString(t.SHA256); err != nil || len(d) != 32 {
		return Errorf(ErrInvalid, "a token's sha256 has 64 hexadecimal digits")
	}
	switch {
	case t.ID == "" || t.User == "":
		return Errorf(ErrInvalid, "a token has an id and a user")
	case len(t.Cards) == 0 || len(t.Cards) > MaxTokenCards:
		return Errorf(ErrInvalid, "a token is for 1 to %d cards, not %d", MaxTokenCards, len(t.Cards))
	case !t.Expires.After(now):
		return Errorf(ErrInvalid, "a token that has expired")
	case t.Expires.Sub(now) > MaxTokenTime:
		return Errorf(ErrInvalid, "a token is good for %v at most", MaxTokenTime)
	}
	for _, c := range t.Cards {
		if c == "" || !printable(c) || len(c) > MaxTokenText {
			return Errorf(ErrInvalid, "a token's cards are UUIDs")
		}
	}
	if t.Quota != (Quota{}) {
		return t.Quota.Check()
	}
	return nil
}

// printable reports whether s can stand in a line of text.
func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
