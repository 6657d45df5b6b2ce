package otlp

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rocwire/rocwire/exporter/push"
)

// maxBody bounds an encoded request: receivers by gRPC take 4 MiB unless told otherwise.
const maxBody = 3 << 20

// A record on the queue is a request's body, compressed: points of one reading differ
// little, and a queue holds some twenty times as much.

var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return w
}}

// pack makes a record of a body.
func pack(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(&b)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var errRecord = errors.New("the record on the queue makes no sense")

// unpack is the body of a record. What makes no sense will never be taken by anybody.
func unpack(record []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(record))
	if err == nil {
		var body []byte
		body, err = io.ReadAll(io.LimitReader(r, maxBody+1))
		if err == nil && len(body) <= maxBody {
			return body, nil
		}
	}
	return nil, fmt.Errorf("%w: %w (%v)", push.ErrPermanent, errRecord, err)
}
