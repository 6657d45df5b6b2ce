package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"gpu-1":                             "gpu-1:18515",
		"GPU-1.Example.:19000":              "gpu-1.example:19000",
		"10.0.0.7":                          "10.0.0.7:18515",
		"[fd00::1]":                         "[fd00::1]:18515",
		"[FD00:0::1]:7":                     "[fd00::1]:7",
		"::1":                               "[::1]:18515",
		"unix:/run/worker.sock":             "unix:/run/worker.sock",
		"gpu_1:018515":                      "gpu_1:18515",
		"":                                  "",
		":18515":                            "",
		"gpu:0":                             "",
		"gpu:65536":                         "",
		"gpu:http":                          "",
		"gpu 1:1":                           "",
		"a..b:1":                            "",
		"user@host:1":                       "",
		"http://host:1":                     "",
		"host/path:1":                       "",
		"unix:run/worker.sock":              "",
		"unix:/" + strings.Repeat("x", 200): "",
		strings.Repeat("x", 300):            "",
		"host\x00:1":                        "",
		"host\n:1":                          "",
	} {
		got, err := Normalize(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

const jsonDoc = `[{"targets": ["gpu-1:18515", "gpu-2", "no good"], "labels": {"pool": "a", "__address__": "evil:1", "__meta_rack": "7", "bad-name": "x"}},
 {"targets": ["gpu-1"], "labels": {"pool": "b"}}]`

func wantDoc() []Target {
	labels := map[string]string{"pool": "a", "__meta_rack": "7"}
	return []Target{{"gpu-1:18515", labels}, {"gpu-2:18515", labels}}
}

func TestParse(t *testing.T) {
	got, bad, err := ParseJSON([]byte(jsonDoc))
	if err != nil || bad != 3 || !reflect.DeepEqual(got, wantDoc()) {
		t.Errorf("JSON: %v, %d bad, %v", got, bad, err)
	}
	yml := "- targets: [gpu-1:18515, gpu-2]\n  labels: {pool: a, __meta_rack: '7'}\n"
	got, bad, err = ParseYAML([]byte(yml))
	if err != nil || bad != 0 || !reflect.DeepEqual(got, wantDoc()) {
		t.Errorf("YAML: %v, %d bad, %v", got, bad, err)
	}
	for _, doc := range []string{"", "{}", `[{"targets": "gpu-1"}]`, `["gpu-1"]`, strings.Repeat(" ", MaxBytes+1)} {
		if list, _, err := ParseJSON([]byte(doc)); err == nil {
			t.Errorf("%.20q: %v", doc, list)
		}
	}
	var many strings.Builder
	many.WriteString(`[{"targets": ["x"`)
	for i := range MaxTargets + 5 {
		fmt.Fprintf(&many, `,"h%d"`, i)
	}
	many.WriteString(`]}]`)
	if list, bad, err := ParseJSON([]byte(many.String())); err != nil || len(list) != MaxTargets || bad != 6 {
		t.Errorf("%d targets, %d bad, %v", len(list), bad, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

func addresses(d *Discovery) string {
	var list []string
	for _, t := range d.Targets() {
		list = append(list, t.Address)
	}
	return strings.Join(list, " ")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two.yml")
	d, err := New(Options{Sources: []string{filepath.Join(dir, "*.json"), two, two}})
	if err != nil {
		t.Fatal(err)
	}
	step := func(what, want string, fail uint64) {
		t.Helper()
		d.Refresh(t.Context())
		if got := addresses(d); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		for _, a := range strings.Fields(want) {
			if !d.Has(a) {
				t.Errorf("%s: it does not have %s", what, a)
			}
		}
		if d.Has("") || d.Has("e:18515") || d.Has("a:18515") != strings.Contains(want, "a:18515") {
			t.Errorf("%s: it has what nobody names", what)
		}
		if n := failures(d); n != fail {
			t.Errorf("%s: %v failures, want %v", what, n, fail)
		}
	}
	step("no files", "", 1)
	write(t, two, "- targets: [b]\n")
	step("one file", "b:18515", 1)
	write(t, one, `[{"targets": ["a", "b"]}]`)
	step("two files", "a:18515 b:18515", 1)
	write(t, one, `[{"targets": ["c"]}]`)
	step("changed", "b:18515 c:18515", 1)
	write(t, one, `[{"targets": `)
	step("broken: as it was", "b:18515 c:18515", 2)
	write(t, filepath.Join(dir, "more.json"), `[{"targets": ["d"]}]`)
	step("one broken, one new", "b:18515 c:18515 d:18515", 3)
	write(t, one, `[]`)
	step("emptied", "b:18515 d:18515", 3)
	if err := os.Remove(filepath.Join(dir, "more.json")); err != nil {
		t.Fatal(err)
	}
	step("removed", "b:18515", 3)
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	step("the file that was named is gone: as it was", "b:18515", 4)
}

// failures are those of all sources.
func failures(d *Discovery) (n uint64) {
	for _, s := range d.States() {
		n += s.Failures
	}
	return n
}

func TestHTTP(t *testing.T) {
	var mu sync.Mutex
	answer := func(http.ResponseWriter, *http.Request) {}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer(w, r)
	}))
	defer srv.Close()
	d, err := New(Options{Sources: []string{srv.URL + "/sd"}, Interval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	typed := func(kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Prometheus-Refresh-Interval-Seconds") != "60" {
				t.Errorf("asked with %v", r.Header)
			}
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		}
	}
	for i, c := range []struct {
		what   string
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		{"good", typed("application/json; charset=utf-8", jsonDoc), "gpu-1:18515 gpu-2:18515"},
		{"not found: as it was", http.NotFound, "gpu-1:18515 gpu-2:18515"},
		{"a page: as it was", typed("text/html", "[]"), "gpu-1:18515 gpu-2:18515"},
		{"elsewhere: as it was", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, "gpu-1:18515 gpu-2:18515"},
		{"endless: as it was", typed("application/json", "["+strings.Repeat(" ", MaxBytes)+"]"), "gpu-1:18515 gpu-2:18515"},
		{"none", typed("application/json", "[]"), ""},
	} {
		mu.Lock()
		answer = c.answer
		mu.Unlock()
		d.Refresh(t.Context())
		if got := addresses(d); got != c.want {
			t.Errorf("%d, %s: %q, want %q", i, c.what, got, c.want)
		}
	}
	if n := failures(d); n != 4 {
		t.Errorf("%v failures", n)
	}
}

// Run reads at once, and ends.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.json")
	write(t, file, jsonDoc)
	d, err := New(Options{Sources: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(ctx)
	}()
	for addresses(d) == "" {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-ended
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(jsonDoc))
	f.Add([]byte("- targets: [a, 'b:1']\n  labels: {x: y}\n"))
	f.Add([]byte("&a [*a, *a]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range []func([]byte) ([]Target, int, error){ParseJSON, ParseYAML} {
			list, _, err := p(b)
			if err != nil && list != nil || len(list) > MaxTargets {
				t.Fatalf("%d targets and %v", len(list), err)
			}
			for _, x := range list {
				if again, err := Normalize(x.Address); err != nil || again != x.Address {
					t.Fatalf("%q became %q, %v", x.Address, again, err)
				}
				for k := range x.Labels {
					if !labelName.MatchString(k) || strings.HasPrefix(k, "__") && !strings.HasPrefix(k, "__meta_") {
						t.Fatalf("label %q", k)
					}
				}
			}
		}
	})
}
