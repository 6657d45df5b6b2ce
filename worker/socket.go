package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// Socket is a Unix socket to listen on. Who connects there is known: the kernel tells process, user and groups.
type Socket struct {
	Path string // none if empty
	// Users and Groups who may connect, root not excepted; both empty: everybody whom the directory's permissions let reach it.
	Users, Groups []uint32
}

// listen makes the socket. What a worker that is dead has left there is taken away; ErrPortInUse if somebody listens.
func (s Socket) listen() (net.Listener, error) {
	l, err := net.Listen("unix", s.Path)
	if errors.Is(err, unix.EADDRINUSE) {
		if err := s.removeStale(); err != nil {
			return nil, err
		}
		l, err = net.Listen("unix", s.Path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(s.Path, 0o666); err != nil { // allowed decides, not the file
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (s Socket) removeStale() error {
	if i, err := os.Lstat(s.Path); err != nil || i.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s is there and is no socket", s.Path)
	}
	c, err := net.Dial("unix", s.Path)
	if err == nil {
		return errors.Join(fmt.Errorf("%s: %w", s.Path, ErrPortInUse), c.Close())
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		return err
	}
	return os.Remove(s.Path)
}

var errNotAllowed = errors.New("this user may not use the worker")

// allowed says whether a peer may use the worker; its error is for the client.
func (s Socket) allowed(p wire.Peer) error {
	if _, ok := p.Addr.(*net.UnixAddr); !ok || len(s.Users)+len(s.Groups) == 0 {
		return nil
	}
	c := p.Credentials
	if c == nil {
		return fmt.Errorf("%w: the kernel does not say who it is", errNotAllowed)
	}
	member := func(g uint32) bool { return slices.Contains(s.Groups, g) }
	if slices.Contains(s.Users, c.UID) || member(c.GID) || slices.ContainsFunc(c.Groups, member) {
		return nil
	}
	return fmt.Errorf("%w: uid %d", errNotAllowed, c.UID)
}
