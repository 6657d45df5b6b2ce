package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Identity is who a client is, as far as anybody but the client itself vouches for it. It is decided before a session exists and does not change.
type Identity struct {
	// Name is the user in every table, metric and log line; empty if nobody vouches for one.
	Name string
	// Method is what the name is known by.
	Method Method
	// Rights are what the client may do.
	Rights Rights
	// Cards are the indices of the cards it may use; nil: all.
	Cards []int
	// Quota is what all its sessions together may have of a card; what is not set is the worker's, for each of them.
	Quota smi.Quota
	// QuotaGroup names those who have the quota together; empty: the identity has it alone.
	QuotaGroup string
	// Issued is the id of the token that was issued to it; empty if none was. Job, Pod and Namespace are what was said then.
	Issued, Job, Pod, Namespace string
	// Expires is when it ends; zero: never. A session that has begun by then goes on.
	Expires time.Time

	digest [sha256.Size]byte // of the issued token: others of the same id may follow it
}

// Method is how a client's identity is known.
type Method string

// The methods. Names are never compared across methods: a token's "root" is not the user root.
const (
	// Nobody vouches for the client, which an address beyond loopback may reach only under --insecure.
	Nobody Method = "none"
	// Local is a client on this machine's loopback that has said no more.
	Local Method = "local"
	// Socket is a client of the Unix socket: the kernel knows its user.
	Socket Method = "socket"
	// Token is a client with a token of the worker's own file.
	Token Method = "token"
	// IssuedToken is a client with a token that an operator had the worker issue, for one job or pod.
	IssuedToken Method = "issued"
	// Certificate is a client that has proved by TLS to have a certificate of a CA that the worker trusts; the name is the one in it.
	Certificate Method = "certificate"
)

// Rights are what a client may do, as a set.
type Rights uint8

// The rights.
const (
	HIP   Rights = 1 << iota // use the cards
	Read                     // read management data
	Set                      // change the cards, and quotas
	Kill                     // end sessions of others
	Issue                    // issue tokens for the cards, and take them back
)

// All rights.
const All = HIP | Read | Set | Kill | Issue

// Usual is what a client may do of which nothing else is said.
const Usual = HIP | Read

var rightNames = []string{"hip", "read", "set", "kill", "issue"}

// String lists them, as a token file does.
func (r Rights) String() string {
	var list []string
	for i, name := range rightNames {
		if r.Has(1 << i) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// parseRights reads a list of names; none at all is Usual.
func parseRights(names []string) (r Rights, err error) {
	if names == nil {
		return Usual, nil
	}
	for _, n := range names {
		i := slices.Index(rightNames, n)
		if i < 0 {
			return 0, fmt.Errorf("right %q: there are %s", n, All)
		}
		r |= 1 << i
	}
	if r == 0 {
		return 0, errors.New("no rights at all")
	}
	return r, nil
}

// Has reports whether all of want are there.
func (r Rights) Has(want Rights) bool { return r&want == want }

// Key names the identity among all, for limits and for what is bound to it. It is never empty, and is for no eyes.
func (i *Identity) Key() string {
	if i.Issued != "" { // each for itself: two jobs of a user have nothing in common
		return string(i.Method) + "\x00" + i.Issued
	}
	return string(i.Method) + "\x00" + i.Name
}

// QuotaKey names those whose sessions have the identity's quota together. It is never empty, and is for no eyes.
func (i *Identity) QuotaKey() string {
	if i.QuotaGroup != "" {
		return string(i.Method) + "\x00group\x00" + i.QuotaGroup // a name has no NUL
	}
	return i.Key()
}

// Purse is the same for people.
func (i *Identity) Purse() string {
	switch {
	case i.QuotaGroup != "":
		return i.QuotaGroup
	case i.Issued != "":
		return i.Issued
	}
	return i.String()
}

// String is who it is, for logs.
func (i *Identity) String() string {
	if i.Name == "" {
		return string(i.Method)
	}
	return string(i.Method) + " " + i.Name
}

// Reaches reports whether the identity may use a card.
func (i *Identity) Reaches(card int) bool { return i.Cards == nil || slices.Contains(i.Cards, card) }
