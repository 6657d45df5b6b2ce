package page

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// Whatever a name is, what is shown of it is valid, short, and of characters that are seen.
func FuzzClean(f *testing.F) {
	for _, s := range evil {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := clean(s)
		if !utf8.ValidString(c) || utf8.RuneCountInString(c) > maxText+1 {
			t.Fatalf("%q becomes %q", s, c)
		}
		for _, r := range c {
			if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q becomes %q", s, c)
			}
		}
		if again := clean(c); again != c {
			t.Fatalf("%q becomes %q, and that %q", s, c, again)
		}
		if len(s) < maxText && utf8.ValidString(s) {
			for _, r := range s {
				if !unicode.IsPrint(r) {
					return
				}
			}
			if c != s {
				t.Fatalf("%q needs no change and becomes %q", s, c)
			}
		}
	})
}

// Whatever is asked, the answer is JSON of bounded size, or says what is wrong.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"minutes=60&points=240", "since=1773500000", "since=1e300", "minutes=0.0001&points=1", "top=3&metric=gpu_power_watts&gpu=0", "op=hipMalloc&points=1440&minutes=1440", "minutes=%zz", "points=-1;x"} {
		f.Add(s)
	}
	p := newWorld(2, 3).page(f, Options{}, 3*time.Minute)
	f.Fuzz(func(t *testing.T, q string) {
		for _, path := range []string{"history", "calls", "latency", "functions", "status"} {
			r := httptest.NewRequest("GET", "/", nil)
			r.URL = &url.URL{Path: "/api/v1/" + path, RawQuery: q}
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || w.Body.Len() > 4<<20 || !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s?%s: %d, %d bytes", path, q, w.Code, w.Body.Len())
			}
		}
	})
}
