package worker_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// turns forwards connections to a worker and counts how often a client spoke after the worker had: its round trips, but for TCP's own.
type turns struct {
	n      atomic.Int64
	answer atomic.Bool // the worker spoke last
	wg     sync.WaitGroup
}

func (p *turns) serve(t *testing.T, to *worker.Server) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.answer.Store(true)
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w, err := net.Dial("tcp", to.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			p.wg.Go(func() {
				forward(w, c, func() {
					if p.answer.Swap(false) {
						p.n.Add(1)
					}
				})
			})
			p.wg.Go(func() { forward(c, w, func() { p.answer.Store(true) }) })
		}
	})
	t.Cleanup(func() { l.Close(); p.wg.Wait() })
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// forward copies until the end and closes both; see is told before bytes are passed on.
func forward(to, from net.Conn, see func()) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<20)
	for {
		n, err := from.Read(b)
		if n > 0 {
			see()
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// TestStartTakesTwoRoundTrips: what programs do before they have anything to compute with, whatever the way costs: the handshake and the
// module. With TCP's own that is three.
func TestStartTakesTwoRoundTrips(t *testing.T) {
	w := serve(t, simbackend.Options{Cards: 2}, worker.Config{})
	least := int64(1 << 30)
	for range 5 { // a report may come in between
		var p turns
		c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: p.serve(t, w), NoShare: true, Logf: t.Logf})
		var th hip.Thread
		n, e := c.GetDeviceCount()
		must(t, "GetDeviceCount", e)
		for d := range n {
			props, e := c.GetDevicePropertiesR0600(d)
			must(t, "GetDevicePropertiesR0600", e)
			cus, e := c.DeviceGetAttribute(hip.DeviceAttributeMultiprocessorCount, d)
			must(t, "DeviceGetAttribute", e)
			if cus != props.MultiProcessorCount || cus == 0 {
				t.Errorf("device %d has %d and %d compute units", d, cus, props.MultiProcessorCount)
			}
		}
		f := kernel(t, c, "vector_add", "vector_add")
		for range 3 {
			_, e := c.Malloc(th, 4<<20)
			must(t, "Malloc", e)
		}
		least = min(least, p.n.Load())
		if g := kernel(t, c, "vector_add", "vector_add"); g == f {
			t.Error("two modules have one function")
		}
		if e := c.DeviceSynchronize(th); e != hip.Success {
			t.Error(e)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if least != 2 {
		t.Errorf("%d round trips", least)
	}
}
