package influx

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/exporter/rows/rowstest"
)

var place = exporter.Place{Host: "node-1", Cluster: "c", Pool: "p"}

func isTag(table, column string) bool {
	for _, s := range rows.Tables {
		for _, c := range s.Columns {
			if s.Name == table && c.Name == column {
				return c.Tag
			}
		}
	}
	return false
}

// process is an exporter's process: a sink, and what it sends.
type process struct {
	*Sink
	work *rowstest.Work
	ref  *rowstest.Reference
	read exporter.Reading
	stop func()
}

func start(t *testing.T, o Options, dir string, work *rowstest.Work, ref *rowstest.Reference) *process {
	t.Helper()
	p := &process{work: work, ref: ref}
	s, err := Open(o, rows.RunnerOptions{
		Options: rows.Options{Interval: time.Hour}, Place: place, Read: func() exporter.Reading { return p.read },
		Queue: push.Options{Dir: dir, Timeout: 5 * time.Second, Drain: time.Millisecond}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Sink = s
	ctx, cancel := context.WithCancel(context.Background()) // t.Context ends before stop can say what is read last
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(ctx) })
	p.stop = sync.OnceFunc(func() {
		p.read = exporter.Reading{Time: p.read.Time.Add(time.Second)}
		p.ref.Put(p.read) // the last record, which Run puts
		cancel()
		wg.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (p *process) put(n int) {
	for range n {
		p.read = p.work.Next()
		p.ref.Put(p.read)
		p.Put()
	}
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not in two minutes", what)
}

func (p *process) drained(t *testing.T) {
	t.Helper()
	wait(t, "nothing waits", func() bool { return p.Stats().Waiting == 0 })
}

const v2 = "/api/v2/write?bucket=gpus&org=o&precision=ms"

func options(s *server) Options { return Options{URL: "http://" + s.addr, Bucket: "gpus", Org: "o"} }

func TestDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		o          Options
		path, auth string
	}{
		"InfluxDB":                  {Options{Bucket: "b 1", Org: "o", Token: "abc"}, "/api/v2/write?bucket=b+1&org=o&precision=ms", "Token abc"},
		"/v1/influxdb":              {Options{Bucket: "public", User: "u", Password: "p"}, "/v1/influxdb/api/v2/write?db=public&precision=ms", "Basic dTpw"},
		"/v1/influxdb/api/v2/write": {Options{}, "/v1/influxdb/api/v2/write?precision=ms", ""},
		"/write":                    {Options{}, "/write?precision=ms", ""},
		"/write?db=x":               {Options{}, "/write?db=x&precision=ms", ""},
	} {
		s := serve(t, &server{path: c.path, auth: c.auth})
		c.o.URL = "http://" + s.addr
		if strings.HasPrefix(name, "/") {
			c.o.URL += name
		}
		ref := rowstest.NewReference(place)
		p := start(t, c.o, t.TempDir(), rowstest.NewWork(), ref)
		p.put(5)
		p.drained(t)
		s.compare(t, ref)
		s.mu.Lock()
		if s.requests != 5 || s.again != 0 || p.Stats().Sent != 5 {
			t.Errorf("%s: %d requests, %d points twice, %+v", name, s.requests, s.again, p.Stats())
		}
		s.mu.Unlock()
	}
}

// The server is away for ten minutes of readings, the process is replaced in the middle
// of them, answers get lost, and in the end every row is there once.
func TestServerAwayAndRestart(t *testing.T) {
	ref, work, dir := rowstest.NewReference(place), rowstest.NewWork(), t.TempDir()
	s := serve(t, &server{path: v2})
	p := start(t, options(s), dir, work, ref)
	p.put(5)
	p.drained(t)
	s.stop()
	p.put(40)
	p.stop()

	ref.Restart()
	q := start(t, options(s), dir, work, ref)
	if n := q.Stats().Waiting; n != 41 { // and the last of the first process
		t.Fatalf("%d records were kept", n)
	}
	q.put(10)
	wait(t, "an attempt fails", func() bool { return q.Stats().Failures > 0 })
	s.mu.Lock()
	s.answer = func(n int, _ []point, _ http.Header) (int, string) {
		switch n % 25 {
		case 7:
			return -1, ""
		case 19:
			return http.StatusInternalServerError, "trouble"
		}
		return 0, ""
	}
	s.mu.Unlock()
	s.start(t)
	q.drained(t)
	s.compare(t, ref)
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := q.Stats(); st.Refused+st.Expired+st.Crowded+st.Corrupt != 0 || st.Failures < 4 || s.again == 0 {
		t.Errorf("%d points twice, %+v", s.again, st)
	}
}

// A table that the server refuses keeps nothing else from arriving, and is counted.
func TestRefusedTable(t *testing.T) {
	ref := rowstest.NewReference(place)
	s := serve(t, &server{path: v2})
	s.answer = func(_ int, points []point, _ http.Header) (int, string) {
		for _, p := range points {
			if p.measurement == "tf_gpu_usage" {
				return http.StatusBadRequest, "partial write: field type conflict: \"rx\"\x1b[31m"
			}
		}
		return 0, ""
	}
	p := start(t, options(s), t.TempDir(), rowstest.NewWork(), ref)
	p.put(3)
	p.drained(t)
	delete(ref.Tables, "tf_gpu_usage")
	s.compare(t, ref)
	if st := p.Stats(); st.Refused != 3 || st.Failures != 0 || !strings.Contains(st.LastError, "field type conflict") || strings.Contains(st.LastError, "\x1b") {
		t.Errorf("%+v", st)
	}
}

// A request that is too large is sent in parts.
func TestTooLarge(t *testing.T) {
	ref := rowstest.NewReference(place)
	s := serve(t, &server{path: v2, maxLines: 60})
	p := start(t, options(s), t.TempDir(), rowstest.NewWork(), ref)
	p.put(3)
	p.drained(t)
	s.compare(t, ref)
	if st := p.Stats(); st.Sent != 3 || st.Refused != 0 {
		t.Errorf("%+v", st)
	}
	s.mu.Lock()
	s.answer = func(int, []point, http.Header) (int, string) { return http.StatusRequestEntityTooLarge, "no" }
	s.mu.Unlock()
	p.read = exporter.Reading{Time: p.read.Time.Add(time.Second)} // one row
	p.Put()
	wait(t, "it is refused", func() bool { return p.Stats().Refused == 1 })
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		retry  string
		want   string
	}{
		{200, "", "done"}, {204, "", "done"},
		{400, "", "permanent"}, {422, "", "permanent"}, {413, "", "permanent"},
		{401, "", "1m0s"}, {403, "", "1m0s"}, {404, "", "1m0s"}, {404, "120", "2m0s"}, {302, "", "1m0s"}, {308, "", "1m0s"},
		{429, "7", "7s"}, {503, "7", "7s"}, {503, "", "again"}, {429, "soon", "again"}, {500, "", "again"}, {502, "", "again"}, {408, "", "again"},
	} {
		answer := &http.Response{StatusCode: c.status, Status: http.StatusText(c.status), Header: http.Header{"Retry-After": {c.retry}}}
		err := classify(answer, "the server's words")
		got := "again"
		if r, ok := err.(*push.RetryError); ok {
			got = r.After.String()
		} else if err == nil {
			got = "done"
		} else if strings.HasPrefix(err.Error(), push.ErrPermanent.Error()) {
			got = "permanent"
		}
		if got != c.want || err != nil && !strings.Contains(err.Error(), "the server's words") {
			t.Errorf("%d %q: %s, %v, want %s", c.status, c.retry, got, err, c.want)
		}
	}
}

// A redirection is not followed: whoever it names would get the token.
func TestRedirection(t *testing.T) {
	other := serve(t, &server{})
	s := serve(t, &server{path: v2, auth: "Token abc"})
	s.answer = func(_ int, _ []point, h http.Header) (int, string) {
		h.Set("Location", "http://"+other.addr+v2)
		return http.StatusTemporaryRedirect, "over there"
	}
	o := options(s)
	o.Token = "abc"
	p := start(t, o, t.TempDir(), rowstest.NewWork(), rowstest.NewReference(place))
	p.put(1)
	wait(t, "an attempt fails", func() bool { return p.Stats().Failures > 0 })
	other.mu.Lock()
	defer other.mu.Unlock()
	if other.requests != 0 || p.Stats().Waiting != 1 {
		t.Errorf("%d requests, %+v", other.requests, p.Stats())
	}
}
