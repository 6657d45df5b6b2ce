package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// errParameter is the error of a request whose parameters make no sense.
var errParameter = errors.New("bad parameter")

// query are a request's parameters. The first bad one is kept as err.
type query struct {
	values url.Values
	err    error
}

// number is a parameter between two bounds, def if it is not given.
func (q *query) number(name string, def, low, high float64) float64 {
	s := q.values.Get(name)
	if s == "" {
		return def
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || v < low || v > high {
		if q.err == nil {
			q.err = fmt.Errorf("%w: %s is no number from %g to %g", errParameter, name, low, high)
		}
		return def
	}
	return v
}

// answer serves JSON. A request that names the version it has gets 304 if that is
// still true.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, f func(*query) (any, error)) {
	v, err := f(&query{values: r.URL.Query()})
	if err != nil {
		problem(w, http.StatusBadRequest, err)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	send(w, r, b)
}

// problem is an error as JSON: {"error": "…"}.
func problem(w http.ResponseWriter, status int, err error) {
	b, _ := json.Marshal(map[string]string{"error": reason(err)}) // a string can be written
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client is gone if not
}

// send sends a body with its ETag, compressed if the client takes that.
func send(w http.ResponseWriter, r *http.Request, b []byte) {
	h := w.Header()
	tag := etag(b)
	h.Set("ETag", tag)
	h.Set("Vary", "Accept-Encoding")
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if len(b) > minCompressed && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		b = compress(b)
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the client is gone if not
}

// minCompressed is the size from which compressing is worth it.
const minCompressed = 1 << 10

// etag is weak, as the compressed form has the same one.
func etag(b []byte) string {
	sum := sha256.Sum256(b)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" || "W/"+t == tag {
			return true
		}
	}
	return false
}

func acceptsGzip(header string) bool {
	for t := range strings.SplitSeq(header, ",") {
		name, param, _ := strings.Cut(t, ";")
		if n := strings.TrimSpace(name); n == "gzip" || n == "*" {
			q, found := strings.CutPrefix(strings.ReplaceAll(param, " ", ""), "q=")
			v, err := strconv.ParseFloat(q, 64)
			return !found || err != nil || v > 0
		}
	}
	return false
}

// compressor is one for all: a compressor takes most of a megabyte, and an answer a
// few milliseconds.
var compressor struct {
	sync.Mutex
	z *gzip.Writer
}

func compress(b []byte) []byte {
	compressor.Lock()
	defer compressor.Unlock()
	var out bytes.Buffer
	if compressor.z == nil {
		compressor.z, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed) // a level that there is
	}
	z := compressor.z
	z.Reset(&out)
	_, _ = z.Write(b) // a buffer takes all
	_ = z.Close()
	return out.Bytes()
}
