package main

import (
	"context"
	"fmt"
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

// perProcess is how many clients a process has: each takes two descriptors and a thread, of which a process may often have some ten thousand.
const perProcess = 4000

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
				c.open[i], errs[i] = wire.Dial(context.Background(), wire.Options{
					Address: address(i%workers, port), NoShare: true, ConnectTimeout: time.Minute,
					Hello: wire.Hello{
						Client: "fleet", Version: "1", Purpose: purposeHIP, Host: fmt.Sprintf("node-%d", i), PID: int64(i + 1), Executable: "/usr/bin/python3.12", User: fmt.Sprintf("user%d", i%97),
						Namespace: "ml", Pod: fmt.Sprintf("train-%d", i),
					},
				})
				if errs[i] != nil {
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

func (c *clients) close() {
	for _, o := range c.open {
		if o != nil {
			_ = o.Close() // nothing was asked of it
		}
	}
}
