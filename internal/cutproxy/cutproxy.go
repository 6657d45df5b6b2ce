// Package cutproxy is a proxy for tests and the soak that cuts connections where it is told to.
package cutproxy

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// Directions through a proxy.
const (
	ToServer = iota
	ToClient
)

// Proxy forwards connections, and cuts them where it is told to.
type Proxy struct {
	l      net.Listener
	server string
	wg     sync.WaitGroup

	mu     sync.Mutex
	open   map[*proxied]struct{}
	armed  bool
	dir    int
	left   int  // bytes in that direction until the cut
	abrupt bool // with a reset
	mute   bool // nothing gets through any more
	refuse bool // new connections
	spare  bool // handshakes
	bytes  [2]int
	cuts   int
	conns  int
	spoken bool
}

type proxied struct {
	client, server net.Conn
	forgotten      bool // nothing of it gets through any more
	answered       bool // the server has said something
	spoken         bool // and the client something after that: their handshake is over
}

// New starts a proxy in front of a server, which ends with the test.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	p, err := Start(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Start starts a proxy in front of a server.
func Start(server string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{l: l, server: server, open: map[*proxied]struct{}{}}
	p.wg.Add(1)
	go p.accept()
	return p, nil
}

// Close ends the proxy and cuts what goes through it.
func (p *Proxy) Close() {
	_ = p.l.Close()
	p.CutAll()
	p.wg.Wait()
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

func (p *Proxy) accept() {
	defer p.wg.Done()
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuse, server := p.refuse, p.server
		p.conns++
		p.mu.Unlock()
		if refuse {
			_ = c.Close()
			continue
		}
		s, err := net.Dial("tcp", server)
		if err != nil {
			_ = c.Close()
			continue
		}
		x := &proxied{client: c, server: s}
		p.mu.Lock()
		p.open[x] = struct{}{}
		p.mu.Unlock()
		p.wg.Add(2)
		go p.forward(x, ToServer, s, c)
		go p.forward(x, ToClient, c, s)
	}
}

func (p *Proxy) forward(x *proxied, dir int, to, from net.Conn) {
	defer p.wg.Done()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		cut := false
		p.mu.Lock()
		x.answered = x.answered || dir == ToClient && n > 0
		x.spoken = x.spoken || dir == ToServer && n > 0 && x.answered
		if p.armed && p.dir == dir && (x.spoken || !p.spare) {
			if n >= p.left {
				n, cut, p.armed = p.left, true, false
				p.cuts++
			}
			p.left -= n
		}
		mute, abrupt := p.mute || x.forgotten, p.abrupt
		p.spoken = p.spoken || dir == ToServer && n > 0 && p.bytes[ToClient] > 0
		p.bytes[dir] += n
		p.mu.Unlock()
		if mute {
			if err != nil {
				return
			}
			continue
		}
		if n > 0 {
			if _, e := to.Write(buf[:n]); e != nil {
				err = e
			}
		}
		if cut || err != nil {
			p.cut(x, abrupt)
			return
		}
	}
}

func (p *Proxy) cut(x *proxied, abrupt bool) {
	p.mu.Lock()
	delete(p.open, x)
	p.mu.Unlock()
	for _, c := range []net.Conn{x.client, x.server} {
		if abrupt {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		_ = c.Close()
	}
}

// Arm has the n-th byte from now on in a direction be the last one.
func (p *Proxy) Arm(dir, n int, abrupt bool) {
	p.mu.Lock()
	p.armed, p.dir, p.left, p.abrupt = true, dir, n, abrupt
	p.mu.Unlock()
}

// Randomly cuts again and again, each time at a random byte less than apart away, every third time with a reset, until stop is called. The first
// handshake is spared: a session that has not begun cannot go on. With spare all are, as there are many who begin.
func (p *Proxy) Randomly(apart int, spare bool) (stop func()) {
	p.mu.Lock()
	p.spare = spare
	p.mu.Unlock()
	quit, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		rng := rand.New(rand.NewPCG(11, 12))
		for i := 0; ; i++ {
			if p.Spoken() {
				p.Arm(rng.IntN(2), rng.IntN(apart), i%3 == 0)
			}
			for first := true; first || p.Armed(); first = false {
				select {
				case <-quit:
					p.Disarm()
					return
				case <-time.After(100 * time.Microsecond):
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-stopped
	}
}

// Disarm tells whether it was still armed.
func (p *Proxy) Disarm() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	armed := p.armed
	p.armed = false
	return armed
}

// CutAll cuts what is connected now, with a reset.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	var all []*proxied
	for x := range p.open {
		all = append(all, x)
	}
	p.mu.Unlock()
	for _, x := range all {
		p.cut(x, true)
	}
}

// Forget has nothing more get through what is connected now, whose ends are not told, as an address translation does that has forgotten it.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for x := range p.open {
		x.forgotten = true
	}
}

// Set changes what the proxy does with everything.
func (p *Proxy) Set(mute, refuse bool) {
	p.mu.Lock()
	p.mute, p.refuse = mute, refuse
	p.mu.Unlock()
}

// Traffic is the bytes forwarded in both directions.
func (p *Proxy) Traffic() [2]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// Cuts is how often it has cut where it was told to.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Conns is how many connections have been taken.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

// Spoken reports whether a client has said something after it was answered: its handshake is over.
func (p *Proxy) Spoken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spoken
}

// Redirect has connections from now on go to another server.
func (p *Proxy) Redirect(server string) {
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
}

// Armed reports whether a cut is still to come.
func (p *Proxy) Armed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.armed
}
