package service

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections holds a server to a number of connections, so that whoever opens many takes descriptors from nobody
// else in the process. When there are as many, one that answers no request makes room: of the address that has most,
// the one that has been idle for longest. When all are busy the newcomer has to go.
type connections struct {
	most int

	mu  sync.Mutex
	all map[*connection]struct{}
	by  map[string]int // address
}

// connection is one of them.
type connection struct {
	net.Conn
	c       *connections
	address string
	closing sync.Once

	// With c.mu.
	requests int       // being answered
	since    time.Time // when it came or the last request ended
}

func newConnections(most int) *connections {
	return &connections{most: most, all: map[*connection]struct{}{}, by: map[string]int{}}
}

// limited is a listener whose connections are counted.
type limited struct {
	net.Listener
	c *connections
}

// Accept implements net.Listener.
func (l limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if x := l.c.add(conn); x != nil {
			return x, nil
		}
		_ = conn.Close() // it has not begun to say anything
	}
}

// add counts a connection; nil if there is no room.
func (c *connections) add(conn net.Conn) *connection {
	x := &connection{Conn: conn, c: c, address: addressOf(conn), since: time.Now()}
	c.mu.Lock()
	var victim *connection
	if len(c.all) >= c.most {
		if victim = c.idlest(); victim == nil {
			c.mu.Unlock()
			return nil
		}
		c.remove(victim)
	}
	c.all[x] = struct{}{}
	c.by[x.address]++
	c.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return x
}

func (c *connections) remove(x *connection) {
	if _, ok := c.all[x]; !ok {
		return
	}
	delete(c.all, x)
	if c.by[x.address]--; c.by[x.address] == 0 {
		delete(c.by, x.address)
	}
}

func (c *connections) idlest() (victim *connection) {
	for x := range c.all {
		if x.requests > 0 {
			continue
		}
		if victim == nil || c.by[x.address] > c.by[victim.address] || c.by[x.address] == c.by[victim.address] && x.since.Before(victim.since) {
			victim = x
		}
	}
	return victim
}

// Close implements net.Conn.
func (x *connection) Close() (err error) {
	x.closing.Do(func() {
		x.c.mu.Lock()
		x.c.remove(x)
		x.c.mu.Unlock()
		err = x.Conn.Close()
	})
	return err
}

func addressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return host
}

type connectionKey struct{}

// within is http.Server's ConnContext: requests know their connection.
func (c *connections) within(ctx context.Context, conn net.Conn) context.Context {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// busy notes which connections have a request that is being answered.
func (c *connections) busy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			c.note(x, 1)
			defer c.note(x, -1)
		}
		next.ServeHTTP(w, r)
	})
}

func (c *connections) note(x *connection, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.requests += n
	x.since = time.Now()
}
