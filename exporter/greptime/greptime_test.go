package greptime

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/greptime/greptimetest"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/exporter/rows/rowstest"
)

var place = exporter.Place{Host: "node-1", Cluster: "c", Pool: "p"}

func serve(t *testing.T, s *greptimetest.Server) *greptimetest.Server {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// log is a log that tests may read.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *log) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// process is an exporter's process: a sink, and what it sends.
type process struct {
	*Sink
	work *rowstest.Work
	ref  *rowstest.Reference
	read exporter.Reading
	stop func()
}

// start begins one, that works on the queue in dir.
func start(t *testing.T, o Options, dir string, work *rowstest.Work, ref *rowstest.Reference, l *log) *process {
	t.Helper()
	p := &process{work: work, ref: ref}
	s, err := Open(o, rows.RunnerOptions{
		Options: rows.Options{Interval: time.Hour}, Place: place, Read: func() exporter.Reading { return p.read },
		Queue: push.Options{Dir: dir, Timeout: 5 * time.Second, Drain: time.Millisecond}, Log: l.logger(),
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

// put puts n readings.
func (p *process) put(n int) {
	for range n {
		p.read = p.work.Next()
		p.ref.Put(p.read)
		p.Put()
	}
}

// wait waits until ok.
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

// arrived is what the server has, with the time column as "ts" in milliseconds.
func arrived(s *greptimetest.Server) (got map[string][]rowstest.Row, again int) {
	got = map[string][]rowstest.Row{}
	for name, t := range s.Tables() {
		again += t.Again
		for _, r := range t.Rows {
			row := maps.Clone(r)
			got[name] = append(got[name], rowstest.Row(row))
		}
	}
	return got, again
}

func compare(t *testing.T, s *greptimetest.Server, ref *rowstest.Reference) (again int) {
	t.Helper()
	got, again := arrived(s)
	if diff := ref.Compare(got); diff != "" {
		t.Error(diff)
	}
	return again
}

func setup(t *testing.T) (*rowstest.Work, *rowstest.Reference, *log) {
	t.Helper()
	return rowstest.NewWork(), rowstest.NewReference(place), &log{}
}

func TestDelivery(t *testing.T) {
	work, ref, l := setup(t)
	s := serve(t, &greptimetest.Server{User: "ann", Password: "secret-word", Database: "gpus"})
	p := start(t, Options{Address: s.Address(), Database: "gpus", User: "ann", Password: "secret-word"}, t.TempDir(), work, ref, l)
	p.put(20)
	p.drained(t)
	wait(t, "the server was asked how it is", func() bool { return strings.Contains(l.String(), "GreptimeDB answers") })
	if again := compare(t, s, ref); again != 0 {
		t.Errorf("%d rows arrived twice", again)
	}
	// Each table's columns, in their order, with the types the database will have.
	tables := s.Tables()
	for _, want := range rows.Tables {
		got := tables[want.Name].Columns
		if len(got) != len(want.Columns)+1 || got[len(got)-1] != (greptimetest.Column{Name: "ts", Type: "TIMESTAMP_MILLISECOND", Semantic: "TIMESTAMP"}) {
			t.Errorf("%s: %v", want.Name, got)
			continue
		}
		for i, c := range want.Columns {
			semantic := "FIELD"
			if c.Tag {
				semantic = "TAG"
			}
			typ := map[rows.Type]string{rows.String: "STRING", rows.Float: "FLOAT64", rows.Int: "INT64", rows.Uint: "UINT64", rows.Bool: "BOOLEAN"}[c.Type]
			if got[i] != (greptimetest.Column{Name: c.Name, Type: typ, Semantic: semantic}) {
				t.Errorf("%s: %v, want %v", want.Name, got[i], c)
			}
		}
	}
	s.Lock()
	if s.Streams != 20 || s.Calls != 0 || s.HealthChecks != 1 {
		t.Errorf("%d streams, %d calls, %d health checks", s.Streams, s.Calls, s.HealthChecks)
	}
	s.Unlock()
	if st := p.Stats(); st.Sent != 20 || !st.Up || st.Name != Name {
		t.Errorf("%+v", st)
	}
	if text := l.String(); !strings.Contains(text, "in the clear") || strings.Contains(text, "secret-word") {
		t.Error(text)
	}
}

// The server is away for ten minutes of readings, the process is replaced in the middle
// of them, and in the end every row is there once.
func TestServerAwayAndRestart(t *testing.T) {
	work, ref, l := setup(t)
	dir := t.TempDir()
	s := serve(t, &greptimetest.Server{})
	o := Options{Address: s.Address()}
	p := start(t, o, dir, work, ref, l)
	p.put(5)
	p.drained(t)
	s.Stop()
	p.put(40)
	if n := p.Stats().Waiting; n != 40 {
		t.Fatalf("%d records wait", n)
	}
	p.stop()

	ref.Restart()
	q := start(t, o, dir, work, ref, l)
	if n := q.Stats().Waiting; n != 41 { // and the last of the first process
		t.Fatalf("%d records were kept", n)
	}
	q.put(10)
	wait(t, "an attempt fails", func() bool { return q.Stats().Failures > 0 })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	q.drained(t)
	q.put(3)
	q.drained(t)
	again := compare(t, s, ref)
	if st := q.Stats(); st.Refused+st.Expired+st.Crowded+st.Corrupt != 0 {
		t.Errorf("%+v", st)
	}
	t.Logf("%d rows arrived twice", again)
}

// Streams break in the middle, in many ways; rows of broken ones were taken, or were not.
func TestBrokenStreams(t *testing.T) {
	work, ref, l := setup(t)
	s := &greptimetest.Server{}
	s.Before = func(n int, _ string) error {
		switch n % 29 {
		case 3:
			return status.Error(codes.Internal, "broken")
		case 12:
			return status.Error(codes.Unavailable, "going away")
		case 20:
			go s.Stop() // all connections; started again below
			return status.Error(codes.Unavailable, "gone")
		}
		return nil
	}
	serve(t, s)
	p := start(t, Options{Address: s.Address()}, t.TempDir(), work, ref, l)
	p.put(8)
	wait(t, "nothing waits", func() bool {
		_ = s.Start() // it may run
		return p.Stats().Waiting == 0
	})
	again := compare(t, s, ref)
	s.Lock()
	defer s.Unlock()
	if again == 0 || s.Calls == 0 || p.Stats().Failures == 0 {
		t.Errorf("nothing broke: %d rows twice, %d calls, %+v", again, s.Calls, p.Stats())
	}
}

// A table that the server refuses keeps nothing else from arriving, and is counted.
func TestRefusedTable(t *testing.T) {
	work, ref, l := setup(t)
	s := serve(t, &greptimetest.Server{})
	s.Create("tf_gpu_usage", greptimetest.Column{Name: "uuid", Type: "STRING", Semantic: "TAG"}, greptimetest.Column{Name: "ts", Type: "TIMESTAMP_NANOSECOND", Semantic: "TIMESTAMP"})
	p := start(t, Options{Address: s.Address()}, t.TempDir(), work, ref, l)
	p.put(4)
	p.drained(t)
	st := p.Stats()
	if st.Refused != 4 || st.Sent != 0 || st.Failures != 0 || !strings.Contains(st.LastError, "tf_gpu_usage") || !strings.Contains(st.LastError, "TIMESTAMP_NANOSECOND") {
		t.Errorf("%+v", st)
	}
	delete(ref.Tables, "tf_gpu_usage")
	got, _ := arrived(s)
	if n := len(got["tf_gpu_usage"]); n != 0 {
		t.Errorf("%d rows in the other's table", n)
	}
	delete(got, "tf_gpu_usage")
	if diff := ref.Compare(got); diff != "" {
		t.Error(diff)
	}
}

// A time column that others chose.
func TestTimeColumn(t *testing.T) {
	for option, scale := range map[string]int64{"greptime_timestamp:ns": 1e6, "t:us": 1e3, "ts": 1} {
		work, ref, l := setup(t)
		s := serve(t, &greptimetest.Server{})
		p := start(t, Options{Address: s.Address(), Time: option}, t.TempDir(), work, ref, l)
		p.put(2)
		p.drained(t)
		got, _ := arrived(s)
		name, _, _ := strings.Cut(option, ":")
		for _, list := range got {
			for _, row := range list {
				v := row[name].(int64)
				delete(row, name)
				row["ts"] = v / scale
			}
		}
		if diff := ref.Compare(got); diff != "" {
			t.Errorf("%s: %s", option, diff)
		}
	}
	for _, bad := range []string{"", ":ms", "ts:s", "a b:ms", "Ts", strings.Repeat("a", 64)} {
		if c, err := ParseTime(bad); err == nil {
			t.Errorf("%q: %v", bad, c)
		}
	}
}

// Nothing leaves the queue while its rows are not confirmed.
func TestUnconfirmed(t *testing.T) {
	work, ref, l := setup(t)
	s := serve(t, &greptimetest.Server{Took: func(rows int) int { return rows - 1 }})
	p := start(t, Options{Address: s.Address()}, t.TempDir(), work, ref, l)
	p.put(1)
	wait(t, "an attempt fails", func() bool { return p.Stats().Failures > 0 })
	if st := p.Stats(); st.Waiting != 1 || st.Sent != 0 || !strings.Contains(st.LastError, "did not take all rows") {
		t.Errorf("%+v", st)
	}
	s.Lock()
	s.Took = nil
	s.Unlock()
	p.drained(t)
	if compare(t, s, ref) == 0 || p.Stats().Sent != 1 {
		t.Errorf("%+v", p.Stats())
	}
}

func TestClassify(t *testing.T) {
	for err, want := range map[error]string{
		status.Error(codes.InvalidArgument, "x"):                  "permanent",
		status.Error(codes.OutOfRange, "x"):                       "permanent",
		status.Error(codes.Unauthenticated, "x"):                  "slow",
		status.Error(codes.PermissionDenied, "x"):                 "slow",
		status.Error(codes.NotFound, "x"):                         "slow",
		status.Error(codes.Unimplemented, "x"):                    "slow",
		status.Error(codes.Unavailable, "x"):                      "again",
		status.Error(codes.Internal, "x"):                         "again",
		status.Error(codes.ResourceExhausted, "x"):                "again",
		context.DeadlineExceeded:                                  "again",
		&statusError{code: 1004}:                                  "permanent",
		&statusError{code: 7002}:                                  "slow",
		&statusError{code: 5000}:                                  "again",
		fmt.Errorf("%w: 1 of 2", errUnconfirmed):                  "again",
		status.Error(codes.Internal, strings.Repeat("\x1b", 9e5)): "again",
	} {
		got := "again"
		c := classify(err)
		if r, ok := c.(*push.RetryError); ok && r.After == slow {
			got = "slow"
		} else if strings.HasPrefix(c.Error(), push.ErrPermanent.Error()) {
			got = "permanent"
		}
		if got != want || len(c.Error()) > 2*maxWords || strings.Contains(c.Error(), "\x1b") {
			t.Errorf("%.100s: %s, want %s", err, got, want)
		}
	}
}

// What is put into the server's queue may be damaged; it is not sent, and holds nothing up.
func TestDamagedRecord(t *testing.T) {
	s := serve(t, &greptimetest.Server{})
	c, err := dial(&Options{Address: s.Address()}, (&log{}).logger())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, record := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte{0x52}, 100)} {
		if err := c.send(t.Context(), record); err == nil || !strings.HasPrefix(err.Error(), push.ErrPermanent.Error()) {
			t.Errorf("%x: %v", record, err)
		}
	}
	empty, err := (&rows.Batch{}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.send(t.Context(), empty); err != nil {
		t.Error(err)
	}
	if n := slices.Collect(maps.Keys(s.Tables())); len(n) != 0 {
		t.Errorf("tables %v", n)
	}
}
