package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// listen opens what the server listens on: the network first, if there is one.
func (c *Config) listen(knowsTokens bool) (list []net.Listener, err error) {
	if c.Listen != "" {
		if err := c.mayListen(knowsTokens); err != nil {
			return nil, err
		}
		lc := net.ListenConfig{Control: wire.ListenControl}
		l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(c.Listen, strconv.Itoa(c.Port)))
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("%s port %d: %w", c.Listen, c.Port, ErrPortInUse)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	if c.Socket.Path != "" {
		l, err := c.Socket.listen()
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// mayListen refuses an address that other machines can reach, unless what they send is protected and they are asked who they are.
func (c *Config) mayListen(knowsTokens bool) error {
	err := wire.CheckListen(c.Listen, c.Insecure || c.TLS.Cert != "" && (knowsTokens || c.TLS.ClientCA != ""))
	if !errors.Is(err, wire.ErrNotLoopback) {
		return err
	}
	need := "TLS (--tls-cert and --tls-key, which hip-worker keys init makes)"
	switch {
	case c.TLS.Cert != "":
		need = "to be asked who they are: --tls-client-ca, --token-file or --oidc-issuer"
	case !knowsTokens:
		need += ", and to be asked who they are: --tls-client-ca, --token-file or --oidc-issuer"
	}
	return fmt.Errorf("%w: clients on other machines need %s; or --insecure lets in whoever comes", notLoopback(c.Listen), need)
}

func notLoopback(host string) error {
	if host == "" {
		host = "every address"
	}
	return fmt.Errorf("%s: %w", host, wire.ErrNotLoopback)
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // a second time does nothing
	}
}

// Addr is where the server listens on the network, nil if it only has a Socket.
func (s *Server) Addr() *net.TCPAddr {
	a, _ := s.listeners[0].Addr().(*net.TCPAddr)
	return a
}

// Serve accepts clients until Close. It returns nil after Close.
func (s *Server) Serve() error {
	go s.pool.fill()
	go s.watch()
	if s.cfg.Backend.Capacity != nil && !s.pool.spawn.boundary.LimitsMemory() {
		go s.watchMemory()
	}
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return nil
	}
	s.conns.Add(len(s.listeners)) // Close waits for who adds connections, too
	s.mu.Unlock()
	ended := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() {
			defer s.conns.Done()
			ended <- s.accept(l)
		}()
	}
	var errs []error
	for range s.listeners {
		errs = append(errs, <-ended)
		closeAll(s.listeners) // one of several does not go on alone
	}
	return errors.Join(errs...)
}

// accept accepts the clients of one listener until it is closed.
func (s *Server) accept(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ECONNABORTED) {
				s.cfg.Log.Error("accept", "error", err)
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return err
		}
		leave, ok := s.enter(conn)
		if !ok {
			continue
		}
		s.conns.Add(1)
		go func() {
			defer s.conns.Done()
			defer leave()
			s.greet(conn, leave)
		}()
	}
}
