package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"
)

// find looks for a token. How long that takes says nothing about the tokens there are: all are compared, by digests.
func (r *Rules) find(presented string) *token {
	d := sha256.Sum256([]byte(presented))
	at := -1
	for i := range r.tokens {
		same := subtle.ConstantTimeCompare(d[:], r.tokens[i].digest[:])
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 {
		return nil
	}
	return &r.tokens[at]
}

// identity is whose the token is.
func (t *token) identity(now time.Time) (Identity, error) {
	id := Identity{Name: t.name, Method: Token, Expires: t.expires}
	t.grant.apply(&id)
	if !t.expires.IsZero() && !now.Before(t.expires) {
		return id, refusef("the token %q has expired on %s; ask the worker's operator for a new one", t.name, t.expires.UTC().Format(time.RFC3339))
	}
	return id, nil
}

func (g *grant) apply(id *Identity) { id.Rights, id.Cards, id.Quota = g.rights, g.cards, g.quota }

// matching finds the first entry for a name, which somebody else vouches for, and its groups; ok is false if there are entries and none is for it.
func matching(list []match, name string, groups []string) (g grant, ok bool) {
	if list == nil {
		return grant{rights: Usual}, true
	}
	for i := range list {
		m := &list[i]
		if m.user != "" && !m.names(name) || m.group != "" && !slices.Contains(groups, m.group) {
			continue
		}
		return m.grant, true
	}
	return grant{}, false
}

func (m *match) names(name string) bool {
	if start, ok := strings.CutSuffix(m.user, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return m.user == name
}
