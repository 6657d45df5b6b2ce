package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/smi"
)

// Rules are what a token file says: who may come in, and what for.
type Rules struct {
	tokens       []token
	oidc         []match // nil: everybody whom the issuer vouches for
	certificates []match // nil: everybody who has a certificate of the CA
}

// grant is what somebody may do and have.
type grant struct {
	rights Rights
	cards  []int // nil: all
	quota  smi.Quota
}

// token is one entry of a file. The token itself is not kept.
type token struct {
	name    string
	digest  [sha256.Size]byte
	expires time.Time // zero: never
	grant
}

// match is an entry for people whom somebody else vouches for.
type match struct {
	user, group string // "" for any; a user that ends in * is a beginning
	grant
}

// The form of the file.
type (
	rulesFile struct {
		Tokens       []tokenEntry `yaml:"tokens"`
		OIDC         []matchEntry `yaml:"oidc"`
		Certificates []matchEntry `yaml:"certificates"`
	}
	tokenEntry struct {
		Name       string    `yaml:"name"`
		Token      string    `yaml:"token"`
		SHA256     string    `yaml:"sha256"`
		Expires    time.Time `yaml:"expires"`
		grantEntry `yaml:",inline"`
	}
	matchEntry struct {
		User       string `yaml:"user"`
		Group      string `yaml:"group"`
		grantEntry `yaml:",inline"`
	}
	grantEntry struct {
		Rights  []string `yaml:"rights"`
		Cards   []int    `yaml:"cards"`
		Memory  string   `yaml:"memory"`
		Compute string   `yaml:"compute"`
	}
)

// Limits of a file.
const (
	maxRulesFile = 1 << 20
	maxEntries   = 4096
	maxName      = 128
	maxCards     = 1024
	// minToken keeps out what can be guessed: whoever finds a token comes in.
	minToken = 16
)

// ParseRules reads a token file. Its errors never tell a token.
func ParseRules(b []byte) (*Rules, error) {
	if len(b) > maxRulesFile {
		return nil, fmt.Errorf("longer than %d bytes", maxRulesFile)
	}
	var f rulesFile
	if err := yaml.UnmarshalStrict(b, &f); err != nil {
		return nil, hideValues(err)
	}
	if len(f.Tokens)+len(f.OIDC)+len(f.Certificates) > maxEntries {
		return nil, fmt.Errorf("more than %d entries", maxEntries)
	}
	r := &Rules{}
	for i := range f.Tokens {
		t, err := f.Tokens[i].read()
		if err != nil {
			return nil, fmt.Errorf("token %d (%q): %w", i+1, printed(f.Tokens[i].Name), err)
		}
		if slices.ContainsFunc(r.tokens, func(o token) bool { return o.digest == t.digest }) {
			return nil, fmt.Errorf("token %d (%q) is there twice", i+1, t.name)
		}
		r.tokens = append(r.tokens, t)
	}
	var err error
	if r.oidc, err = readMatches("oidc", f.OIDC, true); err != nil {
		return nil, err
	}
	r.certificates, err = readMatches("certificates", f.Certificates, false)
	return r, err
}

// hideValues leaves the lines and fields of what YAML complains of, and not the values: one may be a token.
func hideValues(err error) error {
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		return errors.New("it is not YAML")
	}
	var out []string
	for _, s := range te.Errors {
		line, rest, _ := strings.Cut(s, ": ")
		what := "a value that does not belong there"
		if name, _, ok := strings.Cut(strings.TrimPrefix(rest, "field "), " not found in type "); ok && len(name) < minToken {
			what = fmt.Sprintf("there is no field %q here", name)
		}
		out = append(out, line+": "+what)
	}
	return errors.New(strings.Join(out, "; "))
}

func (e *tokenEntry) read() (t token, err error) {
	if err := checkName(e.Name); err != nil {
		return t, err
	}
	switch {
	case (e.Token == "") == (e.SHA256 == ""):
		return t, errors.New("either token or sha256")
	case e.Token != "":
		if len(e.Token) < minToken {
			return t, fmt.Errorf("a token of less than %d characters can be guessed", minToken)
		}
		t.digest = sha256.Sum256([]byte(e.Token))
	default:
		d, err := hex.DecodeString(e.SHA256)
		if err != nil || len(d) != sha256.Size {
			return t, errors.New("sha256 is not 64 hexadecimal digits")
		}
		t.digest = [sha256.Size]byte(d)
	}
	t.name, t.expires = e.Name, e.Expires
	t.grant, err = e.grantEntry.read()
	return t, err
}

func readMatches(section string, entries []matchEntry, groups bool) (list []match, err error) {
	if entries != nil {
		list = []match{} // a section that is there and empty lets in nobody
	}
	for i, e := range entries {
		m := match{user: e.User, group: e.Group}
		switch {
		case e.User == "" && e.Group == "":
			err = errors.New("a user or a group")
		case e.Group != "" && !groups:
			err = errors.New("certificates have no groups")
		default:
			m.grant, err = e.grantEntry.read()
		}
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", section, i+1, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func (e *grantEntry) read() (g grant, err error) {
	if g.rights, err = parseRights(e.Rights); err != nil {
		return g, err
	}
	if e.Cards != nil && len(e.Cards) == 0 || len(e.Cards) > maxCards {
		return g, fmt.Errorf("%d cards", len(e.Cards))
	}
	for _, c := range e.Cards {
		if c < 0 {
			return g, fmt.Errorf("card %d", c)
		}
	}
	slices.Sort(e.Cards)
	g.cards = slices.Compact(e.Cards)
	g.quota, err = ParseQuota(e.Memory, e.Compute)
	return g, err
}

func checkName(s string) error {
	if s == "" || len(s) > maxName || printed(s) != s || strings.TrimSpace(s) != s {
		return fmt.Errorf("a name has 1 to %d characters that can be printed", maxName)
	}
	return nil
}

// printed is a name as it can be shown.
func printed(s string) string { return cut(s, maxName) }

// cut replaces what is not printable and cuts what is longer than n bytes: it ends up in logs and tables.
func cut(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}
