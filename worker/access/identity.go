package access

import (
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
	// Quota is what each of its sessions may have of a card; what is not set is the worker's.
	Quota smi.Quota
	// Expires is when it ends; zero: never. A session that has begun by then goes on.
	Expires time.Time
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
	// Certificate is a client that has proved by TLS to have a certificate of a CA that the worker trusts; the name is the one in it.
	Certificate Method = "certificate"
)

// Rights are what a client may do, as a set.
type Rights uint8

// The rights.
const (
	HIP  Rights = 1 << iota // use the cards
	Read                    // read management data
	Set                     // change the cards, and quotas
	Kill                    // end sessions of others
)

// All rights.
const All = HIP | Read | Set | Kill

// Has reports whether all of want are there.
func (r Rights) Has(want Rights) bool { return r&want == want }

// Key names the identity among all, for limits and for what is bound to it. It is never empty, and is for no eyes.
func (i *Identity) Key() string { return string(i.Method) + "\x00" + i.Name }
