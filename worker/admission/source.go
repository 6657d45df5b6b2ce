package admission

import (
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/rocwire/rocwire/wire"
)

// Source is where a connection comes from, as far as limits are concerned.
type Source struct {
	// Key names it among all.
	Key string
	// Shared: everybody on this machine may come from there, so that it is not punished for what one does.
	Shared bool
	// Operator: the kernel says that it is root, or the user that the worker runs as.
	Operator bool
}

// SourceOf is the source of a peer.
func SourceOf(p wire.Peer) Source {
	if c := p.Credentials; c != nil {
		return Source{Key: "uid " + strconv.FormatUint(uint64(c.UID), 10), Shared: true, Operator: c.UID == 0 || int(c.UID) == os.Geteuid()}
	}
	t, ok := p.Addr.(*net.TCPAddr)
	if !ok {
		return Source{Key: "local", Shared: true}
	}
	a := t.AddrPort().Addr().Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		return Source{Key: netip.PrefixFrom(a, 64).Masked().String()}
	}
	return Source{Key: a.String(), Shared: a.IsLoopback()}
}
