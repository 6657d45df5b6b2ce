package main

import (
	"errors"
	"fmt"
	"net"
	"os/user"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/worker"
)

// listening collects --listen, --socket-user and --socket-group.
type listening struct {
	address string // of the network, empty for none
	socket  worker.Socket
}

// add takes one --listen, and gives the port that it says, nil for none.
func (l *listening) add(s string) (port *int, err error) {
	path, socket := strings.CutPrefix(s, "unix:")
	switch {
	case s == "" || socket && path == "":
		return nil, errors.New("an address, or unix:PATH")
	case socket && l.socket.Path != "", !socket && l.address != "":
		return nil, errors.New("one address and one unix:PATH at most")
	case socket:
		l.socket.Path = path
	default:
		return l.network(s)
	}
	return nil, nil
}

// network is add of an address.
func (l *listening) network(s string) (port *int, err error) {
	host, p, err := net.SplitHostPort(s)
	if err != nil { // there is none
		l.address = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		return nil, nil
	}
	if host == "" {
		return nil, fmt.Errorf("an address goes before the port: 0.0.0.0%s is all of this machine", s)
	}
	l.address = host
	return parsePort(p)
}

func parsePort(s string) (*int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q is no port, 0 to 65535", s)
	}
	port := int(n)
	return &port, nil
}

// user takes a user's name or number who may connect to the socket.
func (l *listening) user(s string) error {
	return addID(&l.socket.Users, s, func(name string) (string, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", err
		}
		return u.Uid, nil
	})
}

// group is user for a group.
func (l *listening) group(s string) error {
	return addID(&l.socket.Groups, s, func(name string) (string, error) {
		g, err := user.LookupGroup(name)
		if err != nil {
			return "", err
		}
		return g.Gid, nil
	})
}

func addID(list *[]uint32, s string, lookup func(name string) (string, error)) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		id, lookupErr := lookup(s)
		if lookupErr != nil {
			return lookupErr
		}
		if n, err = strconv.ParseUint(id, 10, 32); err != nil {
			return err
		}
	}
	*list = append(*list, uint32(n))
	return nil
}

// check completes it when all flags have been read.
func (l *listening) check() error {
	switch {
	case l.socket.Path == "" && len(l.socket.Users)+len(l.socket.Groups) > 0:
		return errors.New("--socket-user and --socket-group say who may connect to --listen unix:PATH, which is not given")
	case l.socket.Path == "" && l.address == "":
		l.address = "127.0.0.1"
	}
	return nil
}

// instance names this worker in what it exports.
func (l *listening) instance(w *worker.Server) string {
	if a := w.Addr(); a != nil {
		return a.String()
	}
	return "unix:" + l.socket.Path
}

// announce tells scripts and people where the worker listens: who reads the line finds the file, and finds it whole.
func announce(o *options, w *worker.Server, backend string) error {
	if a := w.Addr(); a != nil {
		if o.portFile != "" {
			if err := writePort(o.portFile, a.Port); err != nil {
				return err
			}
		}
		if _, err := fmt.Printf("hip-worker listening on %s port %d backend %s\n", a.IP, a.Port, backend); err != nil {
			return err
		}
	}
	if p := o.listen.socket.Path; p != "" {
		if _, err := fmt.Printf("hip-worker listening on unix:%s backend %s\n", p, backend); err != nil {
			return err
		}
	}
	return nil
}
