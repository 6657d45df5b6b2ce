package hipv1

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// maxCards bounds what a worker is believed to have.
const maxCards = 1024

// Source is the cards of a worker of this protocol: what it can be asked. It connects when it is first asked, and again after its connection was lost.
type Source struct {
	smi.Unimplemented
	address string
	timeout time.Duration

	mu     sync.Mutex // one question after the other
	c      *Client
	cards  int
	closed bool
}

// NewSource is a source for the worker at an address, HOST:PORT, which may take so long to connect and for each answer.
func NewSource(address string, timeout time.Duration) *Source {
	return &Source{address: address, timeout: timeout}
}

var _ smi.Source = (*Source)(nil)

// Address is the worker's.
func (s *Source) Address() string { return s.address }

// Close ends the connection.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.drop()
}

func (s *Source) drop() error {
	c := s.c
	s.c = nil
	if c == nil {
		return nil
	}
	return c.Close()
}

// Connect makes sure that there is a connection.
func (s *Source) Connect(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connect(ctx)
}

// connect is called with mu.
func (s *Source) connect(ctx context.Context) error {
	if s.closed {
		return smi.Errorf(smi.ErrUnavailable, "the source is closed")
	}
	if s.c != nil {
		return nil
	}
	c, err := Dial(ctx, s.address, s.timeout)
	if err != nil {
		return smi.Errorf(smi.ErrUnavailable, "worker %s: %w", s.address, err)
	}
	s.c = c
	if _, err := s.call(OpSMIInit, &SMIInitRequest{InitFlags: initGPUs}, nil); err != nil {
		return err
	}
	var n SMIProcessorCountReply
	if _, err := s.call(OpSMIGetProcessorCount, nil, &n); err != nil {
		return err
	}
	if n.ProcessorCount > maxCards {
		return errors.Join(smi.Errorf(smi.ErrBadData, "worker %s: %d cards", s.address, n.ProcessorCount), s.drop())
	}
	s.cards = int(n.ProcessorCount)
	return nil
}

// initGPUs is AMDSMI_INIT_AMD_GPUS.
const initGPUs = 2

// call asks one question, with mu.
func (s *Source) call(op Op, req, resp any) ([]byte, error) {
	rest, err := s.c.Call(op, req, nil, resp)
	var code CodeError
	switch {
	case err == nil:
		return rest, nil
	case !errors.As(err, &code):
		_ = s.drop() // it says nothing more
		return nil, smi.Errorf(smi.ErrUnavailable, "worker %s: %v: %w", s.address, op, err)
	case code == SMIBadIndex || code == SMIBadMetrics:
		return nil, smi.Errorf(smi.ErrNotFound, "worker %s: %v", s.address, code)
	case code > 0 && code != hipNotSupported:
		return nil, smi.Errorf(smi.Code(code), "worker %s: %v: %v", s.address, op, smi.Code(code))
	}
	return nil, smi.Errorf(smi.ErrNotSupported, "worker %s: %v", s.address, code)
}

// ask connects and asks about one card.
func (s *Source) ask(ctx context.Context, index int, f func(SMIProcessorRequest) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.connect(ctx); err != nil {
		return err
	}
	if index < 0 || index >= s.cards {
		return smi.Errorf(smi.ErrNotFound, "worker %s has %d cards, and none has the number %d", s.address, s.cards, index)
	}
	stop := context.AfterFunc(ctx, func(c *Client) func() { return func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) } }(s.c))
	defer stop()
	return f(SMIProcessorRequest{ProcessorIndex: uint32(index)})
}
