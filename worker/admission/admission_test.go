package admission

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
)

func tcp(ip string) wire.Peer { return wire.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 4711}} }

func TestSourceOf(t *testing.T) {
	for _, c := range []struct {
		peer wire.Peer
		want Source
	}{
		{tcp("192.0.2.1"), Source{Key: "192.0.2.1"}},
		{tcp("::ffff:192.0.2.1"), Source{Key: "192.0.2.1"}},
		{tcp("2001:db8:1:2:3:4:5:6"), Source{Key: "2001:db8:1:2::/64"}},
		{tcp("2001:db8:1:2::9"), Source{Key: "2001:db8:1:2::/64"}},
		{tcp("127.0.0.1"), Source{Key: "127.0.0.1", Shared: true}},
		{tcp("::1"), Source{Key: "::1", Shared: true}},
		{wire.Peer{Addr: &net.UnixAddr{}, Credentials: &wire.Credentials{UID: 0}}, Source{Key: "uid 0", Shared: true, Operator: true}},
		{wire.Peer{Addr: &net.UnixAddr{}, Credentials: &wire.Credentials{UID: 54321}}, Source{Key: "uid 54321", Shared: true, Operator: os.Geteuid() == 54321}},
		{wire.Peer{}, Source{Key: "local", Shared: true}},
	} {
		if got := SourceOf(c.peer); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.peer, got, c.want)
		}
	}
}

func gate(t *testing.T, l Limits) *Gate {
	t.Helper()
	g, err := NewGate(l)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPlaces(t *testing.T) {
	g := gate(t, Limits{Sessions: 64, Managers: 32})
	nobody, ada := access.Identity{Method: access.Nobody}, access.Identity{Method: "token", Name: "ada"}
	root := access.Identity{Method: "token", Name: "root", Rights: access.Kill}
	src := func(i int) Source { return Source{Key: fmt.Sprint(i)} }
	must := func(what string, p *Places, s Source, who access.Identity) func() {
		t.Helper()
		leave, err := p.Take(s, &who)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return leave
	}
	refused := func(what, say string, p *Places, s Source, who access.Identity) {
		t.Helper()
		if _, err := p.Take(s, &who); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var leave []func()
	for range 56 { // seven eighths
		leave = append(leave, must("one address", g.Sessions, src(1), nobody))
	}
	refused("one address", "one address", g.Sessions, src(1), nobody)
	for i := range 8 {
		leave = append(leave, must("others", g.Sessions, src(2+i), nobody))
	}
	refused("more than there are", "all sessions are taken", g.Sessions, src(99), nobody)
	for _, l := range leave {
		l()
		l() // once more does nothing
	}
	for i := range 56 {
		leave[i] = must("one user", g.Sessions, src(i), ada)
	}
	refused("one user", "one user", g.Sessions, src(99), ada)
	must("another user", g.Sessions, src(0), nobody)

	for i := range 30 { // a sixteenth is the operators'
		must("managers", g.Managers, src(i%3), nobody)
	}
	refused("managers", "all management connections are taken", g.Managers, src(5), nobody)
	must("an operator with a token", g.Managers, src(1), root)
	must("an operator", g.Managers, Source{Key: "uid 0", Operator: true}, nobody)
	refused("an operator too many", "taken", g.Managers, src(1), root)
	if g.Sessions.taken != 57 || len(g.Sessions.byAddress) != 56 {
		t.Errorf("%d places of %d addresses are taken", g.Sessions.taken, len(g.Sessions.byAddress))
	}
}

// strangers are some with a clock and chances of the test's.
func strangers(t *testing.T, u Startups, per int) (*Strangers, *time.Time) {
	g := gate(t, Limits{Sessions: 1, Strangers: u, StrangersPerAddress: per})
	now := time.Unix(1000, 0)
	s := g.Strangers
	s.now, s.penalties.now = func() time.Time { return now }, func() time.Time { return now }
	return s, &now
}

func TestStrangers(t *testing.T) {
	s, now := strangers(t, Startups{100, 100, 200}, 50)
	bad, good := Source{Key: "bad"}, Source{Key: "good"}
	evicted := 0
	enter := func(from Source) error {
		_, _, err := s.Enter(from, func() { evicted++ })
		return err
	}
	for range 50 {
		if err := enter(bad); err != nil {
			t.Fatal(err)
		}
	}
	if err := enter(bad); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "per-address") {
		t.Errorf("more than its share, at once: %v", err)
	}
	*now = now.Add(grace + 1)
	for range 20 { // now there are some that have been silent for too long
		if err := enter(bad); err != nil {
			t.Fatal(err)
		}
	}
	if evicted != 20 || s.n != 50 {
		t.Errorf("%d made room, %d are there", evicted, s.n)
	}
	for i := range 50 { // up to Start from others
		if err := enter(Source{Key: fmt.Sprint("x", i)}); err != nil {
			t.Fatal(err)
		}
	}
	*now = now.Add(grace + 1)
	if err := enter(Source{Key: "x1"}); err == nil { // one that has a silent one already, and all are refused
		t.Error("not refused early")
	}
	for i := range 200 { // addresses that are not known come in, whatever the number
		if err := enter(Source{Key: fmt.Sprint("y", i)}); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if s.n > 200 {
		t.Errorf("%d are there", s.n)
	}
	if err := enter(good); !errors.Is(err, ErrFull) {
		t.Errorf("one when all others have just come: %v", err)
	}
	*now = now.Add(grace + 1)
	if err := enter(good); err != nil {
		t.Errorf("an honest one: %v", err)
	}
	if leave, _, err := s.Enter(Source{Key: "uid 0", Operator: true}, nil); err != nil || s.n > 200 {
		t.Errorf("an operator: %v", err)
	} else {
		leave()
	}
}

// A burst of clients of one machine is let in, as long as they say who they are.
func TestStrangersBurst(t *testing.T) {
	s, _ := strangers(t, DefaultStrangers, 128)
	from := Source{Key: "ci"}
	var list []func()
	crowds := 0
	for i := range 10_000 {
		leave, crowded, err := s.Enter(from, func() { t.Error("evicted") })
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if crowded {
			crowds++
		}
		if list = append(list, leave); len(list) == 100 {
			for _, f := range list {
				f()
				f()
			}
			list = nil
		}
	}
	if crowds == 0 || s.n != 0 || len(s.byAddress) != 0 {
		t.Errorf("%d were a crowd, %d are left", crowds, s.n)
	}
}

func TestStrangersConcurrent(t *testing.T) {
	s := gate(t, Limits{Sessions: 1, Strangers: Startups{10, 30, 20}, StrangersPerAddress: 5, MaxPenalty: -1}).Strangers
	var clock atomic.Int64
	s.now = func() time.Time { return time.Unix(0, clock.Add(int64(100*time.Millisecond))) }
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				leave, _, err := s.Enter(Source{Key: fmt.Sprint((g + i) % 7)}, func() {})
				if err == nil && i%3 > 0 {
					leave()
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for _, l := range s.byAddress {
		n += l.Len()
	}
	if n != s.n || n > 20 {
		t.Errorf("%d are there, counted as %d", n, s.n)
	}
}

func TestPenalties(t *testing.T) {
	s, now := strangers(t, DefaultStrangers, 128)
	p, bad := s.penalties, Source{Key: "bad"}
	for range 3 {
		p.Add(bad, Denied)
	}
	if err := p.Check(bad); err != nil {
		t.Errorf("somebody who mistyped three times: %v", err)
	}
	for range 1000 {
		p.Add(bad, Garbage)
	}
	_, _, err := s.Enter(bad, nil)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "1m") {
		t.Errorf("%v", err)
	}
	if err := p.Check(Source{Key: "good"}); err != nil {
		t.Errorf("another address: %v", err)
	}
	*now = now.Add(time.Minute)
	if err := p.Check(bad); err != nil {
		t.Errorf("after a minute: %v", err)
	}
	for range 100 { // a health check every two seconds that says nothing
		*now = now.Add(2 * time.Second)
		p.Add(Source{Key: "probe"}, Silent)
	}
	if err := p.Check(Source{Key: "probe"}); err != nil {
		t.Errorf("a health check: %v", err)
	}
	local := Source{Key: "127.0.0.1", Shared: true}
	for range 1000 {
		p.Add(local, Denied)
	}
	if err := p.Check(local); err != nil {
		t.Errorf("this machine: %v", err)
	}
	for i := range 3 * maxPenalties {
		p.Add(Source{Key: fmt.Sprint(i)}, Denied)
	}
	if len(p.until) > maxPenalties {
		t.Errorf("%d addresses are remembered", len(p.until))
	}
}

func TestLimits(t *testing.T) {
	l := Limits{Sessions: 256}
	if err := l.Complete(); err != nil || l.SessionsPerAddress != 224 || l.SessionsPerIdentity != 224 || l.Managers != 256 || l.ManagersPerAddress != 128 ||
		l.StrangersPerAddress != 128 || l.MaxPenalty != time.Minute {
		t.Errorf("%+v, %v", l, err)
	}
	few := Limits{Sessions: 2}
	if err := few.Complete(); err != nil || few.SessionsPerAddress != 2 {
		t.Errorf("%+v, %v", few, err)
	}
	for _, l := range []Limits{{}, {Sessions: -1}, {Sessions: 1, Managers: -1}, {Sessions: 1, Strangers: Startups{5, 5, 4}}} {
		if err := l.Complete(); err == nil {
			t.Errorf("%+v", l)
		}
	}
	for _, s := range []string{"", "1", "1:2", "1:2:3:4", "a:b:c", "0:0:0", "9:0:8", "1:101:3", "1:-1:3", "1:2:3 x", "1:2:3x"} {
		if u, err := ParseStartups(s); err == nil {
			t.Errorf("%q: %v", s, u)
		}
	}
	if u, err := ParseStartups("10:30:100"); err != nil || u != (Startups{10, 30, 100}) || u.String() != "10:30:100" {
		t.Errorf("%v, %v", u, err)
	}
}
