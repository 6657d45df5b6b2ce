package amdsmi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Options says which library Open opens.
type Options struct {
	// Library is its path; empty means the first of Paths.
	Library string
	// Log gets what is worth knowing; nil is slog.Default.
	Log *slog.Logger
}

// Source tells what a libamd_smi tells. Make it with Open.
type Source struct {
	smi.Unimplemented
	lib   *library
	cards []*card
	log   *slog.Logger

	mu     sync.Mutex
	closed bool
	over   context.Context // done when the source is closed
	close  context.CancelFunc
}

var _ smi.Source = (*Source)(nil)

// identityTime is how long Open waits for cards to tell who they are. Those that do
// not are listed without a name until they do.
const identityTime = 3 * time.Second

// Open opens the library and lists its cards. It fails with ErrUnavailable if there
// is no library, ErrNotSupported if its ABI is unknown, ErrNoDriver if the amdgpu
// driver is not loaded or has no card, and ErrNoPermission, naming the file, if this
// process may not use the driver.
func Open(o Options) (smi.Source, error) {
	lib, err := load(o.Library)
	if err != nil {
		return nil, err
	}
	if err := lib.acquire(); err != nil {
		return nil, err
	}
	s := &Source{lib: lib, log: o.Log}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.over, s.close = context.WithCancel(context.Background())
	handles, err := lib.handles()
	if err == nil && len(handles) == 0 {
		err = smi.Errorf(smi.ErrNoDriver, "%s finds no GPU", lib.file)
		if hint := permissionHint(nil); hint != "" {
			err = smi.Errorf(smi.ErrNoPermission, "%s finds no GPU%s", lib.file, hint)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	for i, h := range handles {
		s.cards = append(s.cards, newCard(i, h))
	}
	s.identify()
	s.log.Debug("AMD SMI library opened", "file", lib.file, "version", lib.version.String(), "gpus", len(s.cards))
	return s, nil
}

// identify asks all cards who they are.
func (s *Source) identify() {
	ctx, cancel := context.WithTimeout(s.over, identityTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range s.cards {
		wg.Go(func() {
			_, err := ask(ctx, s, c.index, askDevice, func(r *reader) (struct{}, error) {
				d, err := r.device()
				if err == nil {
					c.device.Store(d)
				}
				return struct{}{}, err
			})
			if err != nil {
				s.log.Warn("a GPU does not tell who it is", "gpu", c.index, "error", err)
			}
		})
	}
	wg.Wait()
}

// Library is the file that was opened, and its version.
func (s *Source) Library() (file, version string) { return s.lib.file, s.lib.version.String() }

// Close implements smi.Source. Calls that hang are not waited for.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.close()
		s.lib.release()
	}
	return nil
}

var errClosed = smi.Errorf(smi.ErrUnavailable, "the source is closed")

// begin counts a call that is about to begin, if the source is open.
func (s *Source) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.lib.use()
	return nil
}

// card finds a card by its index.
func (s *Source) card(index int) (*card, error) {
	if index < 0 || index >= len(s.cards) {
		return nil, smi.NoDevice(index, len(s.cards))
	}
	return s.cards[index], nil
}

// Devices implements smi.Source. It answers from memory.
func (s *Source) Devices(context.Context) ([]smi.Device, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.lib.release()
	list := make([]smi.Device, len(s.cards))
	for i, c := range s.cards {
		list[i] = *c.device.Load()
	}
	return list, nil
}

// ask puts one question about one card. The same question about the same card is
// asked once at a time; the call is left alone when ctx ends.
func ask[T any](ctx context.Context, s *Source, index int, q question, read func(*reader) (T, error)) (T, error) {
	var none T
	if err := s.begin(); err != nil {
		return none, err
	}
	c, err := s.card(index)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.lib.release()
		return none, err
	}
	select {
	case c.turn[q] <- struct{}{}:
	case <-ctx.Done():
		s.lib.release()
		return none, ctx.Err()
	case <-s.over.Done():
		s.lib.release()
		return none, errClosed
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		r := &reader{lib: s.lib, card: c, source: s, mem: newMemory()}
		v, err := read(r)
		r.mem.free()
		<-c.turn[q]
		s.lib.release()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-s.over.Done():
		return none, errClosed
	}
}
