package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/wire"
)

// clients are open sessions, the same number at each worker.
type clients struct {
	open []*wire.Client
}

// clientsStats is what they tell of themselves.
type clientsStats struct{ Open int }

// atOnce is how many connect at the same time.
const atOnce = 64

// handshakes is how long one may take, on both sides.
const handshakes = 5 * time.Minute

// begin opens further sessions at workers with this port until there are n, at the first so many of them; each worker gets the next one in turn.
func (c *clients) begin(n, workers int, port string) error {
	var wg sync.WaitGroup
	first := len(c.open)
	if n < first {
		return nil
	}
	c.open = append(c.open, make([]*wire.Client, n-first)...)
	errs := make([]error, n)
	var failed atomic.Bool
	next := make(chan int)
	for range atOnce {
		wg.Go(func() {
			for i := range next {
				if c.open[i], errs[i] = beginOne(i, address(i%workers, port)); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	for i := first; i < n && !failed.Load(); i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	return nil
}

// beginOne opens a client's session. A worker and its clients share two processors with everything else here, so it may take its time.
func beginOne(i int, at string) (*wire.Client, error) {
	conn, err := net.DialTimeout("tcp", at, handshakes)
	if err != nil {
		return nil, err
	}
	// Without the wrapper a client of its own would have a thread and a second descriptor: with ten thousand of them they are all that the machine does.
	return wire.NewClient(context.Background(), struct{ net.Conn }{conn}, wire.Options{
		Address: at, NoShare: true, ConnectTimeout: handshakes,
		Hello: wire.Hello{
			Client: "fleet", Version: "1", Purpose: purposeHIP, Host: fmt.Sprintf("node-%d", i), PID: int64(i + 1), Executable: "/usr/bin/python3.12", User: fmt.Sprintf("user%d", i%97),
			Namespace: "ml", Pod: fmt.Sprintf("train-%d", i),
		},
	})
}

func (c *clients) close() {
	for _, o := range c.open {
		if o != nil {
			_ = o.Close() // nothing was asked of it
		}
	}
}
