package influx

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/exporter/rows/rowstest"
)

// server takes line protocol and keeps what it reads.
type server struct {
	mu       sync.Mutex
	path     string // with the query
	auth     string
	maxLines int
	// answer is asked before a request is taken, with its number from 1 and its points;
	// a status that is not 0 is the answer.
	answer func(n int, points []point, w http.Header) (status int, body string)

	requests, again int
	points          map[string]point
	errs            []string

	http *http.Server
	addr string
}

func serve(t *testing.T, s *server) *server {
	t.Helper()
	s.points = map[string]point{}
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	addr := s.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	h := &http.Server{Handler: s}
	s.http = h
	go func() { _ = h.Serve(ln) }()
}

func (s *server) stop() { _ = s.http.Close() }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	wrong := func(status int, format string, args ...any) {
		s.errs = append(s.errs, fmt.Sprintf(format, args...))
		http.Error(w, fmt.Sprintf(format, args...), status)
	}
	if got := r.URL.RequestURI(); r.Method != http.MethodPost || got != s.path {
		wrong(http.StatusNotFound, "%s %s", r.Method, got)
		return
	}
	if got := r.Header.Get("Authorization"); got != s.auth {
		http.Error(w, "unauthorized access", http.StatusUnauthorized)
		return
	}
	if r.Header.Get("Content-Encoding") != "gzip" {
		wrong(http.StatusBadRequest, "not compressed")
		return
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		wrong(http.StatusBadRequest, "%v", err)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		wrong(http.StatusBadRequest, "%v", err)
		return
	}
	points, err := parseLines(string(body))
	if err != nil {
		wrong(http.StatusBadRequest, "%v", err)
		return
	}
	if s.maxLines > 0 && len(points) > s.maxLines {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	if s.answer != nil {
		if status, text := s.answer(s.requests, points, w.Header()); status != 0 {
			if status < 0 { // taken, but nobody hears of it
				s.keep(points)
				panic(http.ErrAbortHandler)
			}
			http.Error(w, text, status)
			return
		}
	}
	s.keep(points)
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) keep(points []point) {
	for _, p := range points {
		key := p.measurement
		for _, k := range slices.Sorted(maps.Keys(p.tags)) {
			key += "\x00" + k + "=" + p.tags[k]
		}
		key += fmt.Sprintf("\x00%d", p.time)
		if _, ok := s.points[key]; ok {
			s.again++
		}
		s.points[key] = p
	}
}

// arrived is what the server has.
func (s *server) arrived() map[string][]rowstest.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := map[string][]rowstest.Row{}
	for _, p := range s.points {
		row := rowstest.Row{"ts": p.time}
		for k, v := range p.tags {
			row[k] = v
		}
		maps.Copy(row, p.fields)
		got[p.measurement] = append(got[p.measurement], row)
	}
	return got
}

// compare requires exactly the rows that ref expects, as line protocol can carry them.
func (s *server) compare(t *testing.T, ref *rowstest.Reference) {
	t.Helper()
	for table, list := range ref.Tables {
		for _, row := range list {
			for k, v := range row {
				if text, ok := v.(string); ok && isTag(table, k) {
					row[k] = strings.ReplaceAll(text, `\`, "/")
				} else if n, ok := v.(uint64); ok && !strings.Contains(s.path, v2Path) {
					row[k] = int64(n)
				}
			}
		}
	}
	if diff := ref.Compare(s.arrived()); diff != "" {
		t.Error(diff)
	}
	for _, e := range s.errs {
		t.Error(e)
	}
}
