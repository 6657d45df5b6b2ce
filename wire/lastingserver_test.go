package wire

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// lastingServer serves sessions that can be resumed.
type lastingServer struct {
	t   testing.TB
	l   net.Listener
	opt ServerOptions
	wg  sync.WaitGroup

	mu       sync.Mutex
	handler  func() Handler
	sessions map[uint64]*ServerConn
	ended    map[uint64]error
	next     uint64
	resumed  int
	refused  []error
	full     int      // resumptions that are refused for now
	hellos   []*Hello // of resumptions
}

func newLastingServer(t testing.TB, park time.Duration, handler func() Handler) *lastingServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &lastingServer{t: t, l: l, handler: handler, opt: ServerOptions{Park: park}, sessions: map[uint64]*ServerConn{}, ended: map[uint64]error{}}
	s.wg.Add(1)
	go s.accept()
	t.Cleanup(s.stop)
	return s
}

func (s *lastingServer) stop() {
	_ = s.l.Close()
	s.mu.Lock()
	for _, c := range s.sessions {
		go c.Close("the test is over")
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *lastingServer) accept() {
	defer s.wg.Done()
	for {
		conn, err := s.l.Accept()
		if err != nil {
			return
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.serve(conn)
		}()
	}
}

func (s *lastingServer) serve(conn net.Conn) {
	if onTLS {
		c, err := SecureServer(context.Background(), conn, testKeys().server)
		if err != nil {
			_ = conn.Close()
			return
		}
		conn = c
	}
	hello, _, err := ReadHello(conn, patience)
	if err != nil {
		_ = conn.Close()
		return
	}
	if onStreams {
		conn = noFile{conn}
	}
	if r := hello.Resume; r != nil {
		s.mu.Lock()
		s.hellos = append(s.hellos, hello)
		c, full := s.sessions[r.Session], s.full > 0
		if full {
			s.full--
		}
		s.mu.Unlock()
		if full {
			_ = RefuseNow(conn, 7, "too many; try again later")
			return
		}
		if c == nil {
			_ = Refuse(conn, CodeNoSession, "there is no such session")
			return
		}
		err := c.Resume(conn, hello)
		s.mu.Lock()
		if err != nil {
			s.refused = append(s.refused, err)
		} else {
			s.resumed++
		}
		s.mu.Unlock()
		return
	}
	opt := s.opt
	opt.Protocol, opt.Heartbeat, opt.HelloSum = hello.Protocol, hello.Heartbeat(), hello.Sum
	c, err := NewServerConn(conn, opt)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	s.next++
	id := s.next
	s.sessions[id] = c
	h := s.handler()
	s.mu.Unlock()
	w := Welcome{Session: id, HeartbeatMS: uint32(hello.Heartbeat() / time.Millisecond), Features: GrantFeatures(hello.Features, []string{FeatureResume, FeatureIntegrity, FeaturePacked})}
	if err = c.Welcome(w); err == nil {
		err = c.Serve(h)
	} else {
		c.Close("")
	}
	s.mu.Lock()
	delete(s.sessions, id)
	s.ended[id] = err
	s.mu.Unlock()
}

// end waits for the end of a session.
func (s *lastingServer) end(id uint64) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		err, ok := s.ended[id]
		s.mu.Unlock()
		if ok {
			return err
		}
	}
	s.t.Helper()
	s.t.Fatalf("session %d does not end", id)
	return nil
}

// counts tells of the resumptions so far, and why others were refused.
func (s *lastingServer) counts() (resumed int, refused []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumed, s.refused
}
