package main

import (
	"fmt"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

// cutting has a host's programs reach their worker through a proxy that cuts their connections, as -cut says: they must not notice. The proxy ends with end,
// which tells how often it has cut.
func (h *host) cutting() (end func(), err error) {
	if h.o.cut <= 0 {
		return func() {}, nil
	}
	p, err := cutproxy.Start("127.0.0.1:" + h.w.port)
	if err != nil {
		return nil, err
	}
	h.env = append(h.env, "TF_WORKER_HOST="+p.Addr(), "TF_WORKER_SHM=0")
	stop := p.Randomly(h.o.cut<<10, true)
	return func() {
		stop()
		p.Close()
		fmt.Printf("connections were cut %d times, and made again\n", p.Cuts())
	}, nil
}
