package tfconnect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const answer = "native+10.1.2.3+8000+worker-7d9f-3\n"

// operator answers with each of the codes once, then with the last one; its clock is the question's.
type operator struct {
	codes []int
	body  string
	asked []*http.Request
}

func (o *operator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked = append(o.asked, r)
	code := o.codes[min(len(o.asked), len(o.codes))-1]
	if code == http.StatusFound {
		w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
	}
	w.WriteHeader(code)
	if code == http.StatusOK {
		fmt.Fprint(w, o.body)
	}
}

// ask asks o with a clock that only Resolve's pauses move.
func ask(t *testing.T, o *operator, token string) (c *Connection, lines []string, waited time.Duration, err error) {
	t.Helper()
	srv := httptest.NewServer(o)
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{URLVariable: srv.URL + "/api/connection?name=c1", nameVariable: "other", namespaceVariable: "ml"}
	q, ok := FromEnv(func(k string) string { return env[k] }, func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) })
	if !ok {
		t.Fatal("no question")
	}
	q.tokenFile = file
	begin := time.Unix(1e9, 0)
	now := begin
	q.now = func() time.Time { return now }
	q.sleep = func(_ context.Context, d time.Duration) { now = now.Add(d) }
	c, err = q.Resolve(context.Background())
	return c, lines, now.Sub(begin), err
}

func TestResolve(t *testing.T) {
	for name, c := range map[string]struct {
		codes  []int
		body   string
		want   error
		waited time.Duration
		tries  int // 0: many
	}{
		"at once":          {[]int{200}, answer, nil, 0, 1},
		"after a while":    {[]int{503, 504, 502, 404, 429, 200}, answer, nil, 5 * pause, 6},
		"never":            {[]int{503}, "", ErrNotReady, Patience, 0},
		"unknown":          {[]int{404}, "", ErrUnknown, strange, 0},
		"refused":          {[]int{401}, "", ErrRefused, 0, 1},
		"forbidden":        {[]int{403}, "", ErrRefused, 0, 1},
		"refused later":    {[]int{503, 401}, "", ErrRefused, pause, 2},
		"sent elsewhere":   {[]int{302, 200}, answer, errAnswer, 0, 1},
		"says nothing":     {[]int{200}, "", errAnswer, 0, 1},
		"says too much":    {[]int{200}, answer + strings.Repeat(" ", maxAnswer), errAnswer, 0, 1},
		"another protocol": {[]int{200}, "shmem+/dev/shm/x+1+w-1", errAnswer, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := &operator{codes: c.codes, body: c.body}
			got, lines, waited, err := ask(t, o, "secret\n")
			if !errors.Is(err, c.want) || waited != c.waited || c.tries != 0 && len(o.asked) != c.tries {
				t.Errorf("%v after %v and %d tries", err, waited, len(o.asked))
			}
			if (err == nil) != (got != nil) || got != nil && *got != (Connection{"10.1.2.3", "8000", "worker-7d9f-3"}) {
				t.Errorf("%+v", got)
			}
			if n := int(c.waited / tell); len(lines) > n+1 || c.waited > tell && len(lines) < 2 {
				t.Errorf("%d lines: %q", len(lines), lines)
			}
			for _, r := range o.asked {
				if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Query().Get("name") != "c1" || r.URL.Query().Get("namespace") != "ml" || r.Method != "GET" {
					t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
				}
			}
			if err != nil && strings.Contains(err.Error()+strings.Join(lines, ""), "secret") {
				t.Errorf("the token is told: %v %q", err, lines)
			}
		})
	}
}

// TestToken: without a token the operator is not asked.
func TestToken(t *testing.T) {
	for _, token := range []string{"", " \n", "two\nlines", strings.Repeat("x", 64<<10+1)} {
		o := &operator{codes: []int{200}, body: answer}
		if _, _, _, err := ask(t, o, token); !errors.Is(err, ErrRefused) || len(o.asked) != 0 {
			t.Errorf("%.10q: %v, asked %d times", token, err, len(o.asked))
		}
	}
}

// TestOperatorComes: an operator that cannot be reached yet is tried again, and one that does not come is ErrNotReady.
func TestOperatorComes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(&operator{codes: []int{200}, body: answer})
	defer srv.Close()
	at := "http://" + srv.Listener.Addr().String()
	now := time.Unix(1e9, 0)
	dead := &Question{URL: "http://127.0.0.1:1/", tokenFile: file, now: func() time.Time { return now }, sleep: func(_ context.Context, d time.Duration) { now = now.Add(d) }}
	if _, err := dead.Resolve(context.Background()); !errors.Is(err, ErrNotReady) {
		t.Errorf("%v", err)
	}
	q := &Question{URL: at, tokenFile: file}
	srv.Start()
	if c, err := q.Resolve(context.Background()); err != nil || c.Port != "8000" {
		t.Errorf("%+v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := q.Resolve(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"ftp://x/", "/api/connection", "http://", "::"} {
		if _, err := (&Question{URL: bad, tokenFile: file}).Resolve(context.Background()); err == nil || !strings.Contains(err.Error(), URLVariable) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]*Connection{
		"native+10.1.2.3+8000+worker-7d9f-3":  {"10.1.2.3", "8000", "worker-7d9f-3"},
		"native+fd00::5+1+w":                  {"fd00::5", "1", "w"},
		"native+[fd00::5]+65535+w-1":          {"fd00::5", "65535", "w-1"},
		"native+10.1.2.3+8000":                nil,
		"native+10.1.2.3+8000+w+x":            nil,
		"native+0.0.0.0+8000+w":               nil,
		"native+worker.svc+8000+w":            nil,
		"native+10.1.2.3+0+w":                 nil,
		"native+10.1.2.3+65536+w":             nil,
		"native+10.1.2.3+-1+w":                nil,
		"native+10.1.2.3+8000+":               nil,
		"remote+10.1.2.3+8000+w":              nil,
		"":                                    nil,
		strings.Repeat("+", maxAnswer):        nil,
		"native+" + strings.Repeat("1", 4096): nil,
	} {
		got, err := Parse(s)
		if (err == nil) != (want != nil) || want != nil && *got != *want || err != nil && !errors.Is(err, errAnswer) {
			t.Errorf("%.40q: %+v, %v", s, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(strings.TrimSpace(answer))
	f.Add("native+[::1%eth0]+1+x")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse("native+" + c.Host + "+" + c.Port + "+" + c.Worker); err != nil || *again != *c {
			t.Errorf("%q: %+v, then %+v, %v", s, c, again, err)
		}
	})
}
