package discovery

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers questions for SRV records over UDP and TCP, and is where it says.
type dnsServer struct {
	addr    string
	mu      sync.Mutex
	records map[string][]dnsmessage.SRVResource // by name with a final dot
	down    map[string]bool
}

func startDNS(t *testing.T) *dnsServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", ln.Addr().String())
	if err != nil {
		t.Skipf("the UDP port beside a TCP port is taken: %v", err)
	}
	t.Cleanup(func() { ln.Close(); pc.Close() })
	s := &dnsServer{addr: ln.Addr().String(), records: map[string][]dnsmessage.SRVResource{}, down: map[string]bool{}}
	go func() {
		b := make([]byte, 4096)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := s.answer(t, b[:n], 512); answer != nil {
				_, _ = pc.WriteTo(answer, from)
			}
		}
	}()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var size [2]byte
				if _, err := io.ReadFull(conn, size[:]); err != nil {
					return
				}
				q := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(conn, q); err != nil {
					return
				}
				answer := s.answer(t, q, 1<<16-1)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			}()
		}
	}()
	return s
}

// set says what there is of a name; nil is that the server fails.
func (s *dnsServer) set(name string, records []dnsmessage.SRVResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[name], s.down[name] = records, records == nil
}

// answer is cut where it would be longer than limit, as RFC 1035 says.
func (s *dnsServer) answer(t *testing.T, question []byte, limit int) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		t.Errorf("a question that is none: %v", err)
		return nil
	}
	q := m.Questions[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	records, found := s.records[strings.ToLower(q.Name.String())]
	m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}, Questions: m.Questions}
	switch {
	case s.down[q.Name.String()]:
		m.RCode = dnsmessage.RCodeServerFailure
	case !found:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeSRV:
		for _, r := range records {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: &r})
		}
	}
	b, err := m.Pack()
	for err == nil && len(b) > limit { // what fits is there
		m.Answers, m.Truncated = m.Answers[:len(m.Answers)*9/10], true
		b, err = m.Pack()
	}
	if err != nil {
		t.Error(err)
	}
	return b
}

func srv(target string, port uint16) dnsmessage.SRVResource {
	return dnsmessage.SRVResource{Priority: 1, Weight: 1, Port: port, Target: dnsmessage.MustNewName(target)}
}

func TestDNS(t *testing.T) {
	s := startDNS(t)
	const name = "_rocwire._tcp.example.org."
	s.set(name, []dnsmessage.SRVResource{srv("GPU-1.example.org.", 18515), srv("gpu-2.example.org.", 19000), srv("gpu-1.example.org.", 18515)})
	s.set("_none._tcp.example.org.", []dnsmessage.SRVResource{srv(".", 0)})
	var all []string
	var many []dnsmessage.SRVResource
	for i := range 300 {
		target := fmt.Sprintf("gpu-%03d.example.org.", i)
		many = append(many, srv(target, 18515))
		all = append(all, strings.TrimSuffix(target, ".")+":18515")
	}
	s.set("_many._tcp.example.org.", many)
	s.set("_broken._tcp.example.org.", nil)
	for query, want := range map[string]string{
		"_rocwire._tcp.example.org": "gpu-1.example.org:18515 gpu-2.example.org:19000", "_none._tcp.example.org.": "", "_many._tcp.example.org.": strings.Join(all, " "),
	} {
		d, err := New(Options{Sources: []string{"dns://" + s.addr + "/" + query}})
		if err != nil {
			t.Fatal(err)
		}
		d.Refresh(t.Context())
		if got := addresses(d); got != want || failures(d) != 0 {
			t.Errorf("%s: %s, want %s; %+v", query, got, want, d.States())
		}
		if query == "_rocwire._tcp.example.org" {
			if l := d.Targets()[1].Labels; l["__meta_dns_name"] != query || l["__meta_dns_srv_record_target"] != "gpu-2.example.org." || l["__meta_dns_srv_record_port"] != "19000" {
				t.Errorf("labels %v", l)
			}
		}
	}
	// What was known stays when the name is gone, or the server fails; a name that never was is an error.
	d, err := New(Options{Sources: []string{"dns://" + s.addr + "/" + name}})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	s.set(name, nil)
	d.Refresh(t.Context())
	if got := addresses(d); !strings.Contains(got, "gpu-2.example.org:19000") || failures(d) != 1 {
		t.Errorf("%s, %+v", got, d.States())
	}
	for _, bad := range []string{"_gone._tcp.example.org.", "_broken._tcp.example.org."} {
		d, err := New(Options{Sources: []string{"dns://" + s.addr + "/" + bad}})
		if err != nil {
			t.Fatal(err)
		}
		d.Refresh(t.Context())
		if st := d.States()[0]; st.Failures != 1 || !strings.Contains(st.Err, "example.org") || addresses(d) != "" {
			t.Errorf("%s: %+v, %s", bad, st, addresses(d))
		}
	}
}

// A list that does not fit into an answer is an error, and not a shorter list.
func TestDNSCut(t *testing.T) {
	s := startDNS(t)
	const name = "_rocwire._tcp.example.org."
	s.set(name, []dnsmessage.SRVResource{srv("gpu-1.example.org.", 18515)})
	d, err := New(Options{Sources: []string{"dns://" + s.addr + "/" + name}})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	many := make([]dnsmessage.SRVResource, 2500)
	for i := range many {
		many[i] = srv(fmt.Sprintf("gpu-%04d.example.org.", i), 18515)
	}
	s.set(name, many)
	d.Refresh(t.Context())
	if st := d.States()[0]; st.Failures != 1 || !strings.Contains(st.Err, name+": the answer has more records") || addresses(d) != "gpu-1.example.org:18515" {
		t.Errorf("%+v, %.200s", st, addresses(d))
	}
	s.set(name, many[:1000])
	d.Refresh(t.Context())
	if st := d.States()[0]; st.Failures != 1 || st.Targets != 1000 {
		t.Errorf("%+v", st)
	}
}

// A server that says nothing is an error by the deadline.
func TestDNSSilent(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	d, err := New(Options{Sources: []string{"dns://" + pc.LocalAddr().String() + "/_x._tcp.example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextWithTimeout(t, 50*time.Millisecond)
	defer cancel()
	d.Refresh(ctx)
	if s := d.States()[0]; s.Failures != 1 || s.Err == "" {
		t.Errorf("%+v", s)
	}
}
