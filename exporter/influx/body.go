package influx

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"github.com/rocwire/rocwire/exporter/rows"
)

// Limits of one request, before compression.
const (
	maxLines = 10_000
	maxBytes = 4 << 20
)

// split makes requests of lines of a batch, each of one table or of several.
func split(b *rows.Batch, unsigned, apart bool) (requests [][]string) {
	var lines []string
	size := 0
	end := func() {
		if len(lines) > 0 {
			requests = append(requests, lines)
		}
		lines, size = nil, 0
	}
	for i := range b.Tables {
		t := &b.Tables[i]
		for k := range t.Rows {
			l := line(t, &t.Rows[k], unsigned)
			if l == "" {
				continue
			}
			if len(lines) == maxLines || size+len(l) > maxBytes {
				end()
			}
			lines = append(lines, l)
			size += len(l)
		}
		if apart {
			end()
		}
	}
	end()
	return requests
}

// compress is the lines' body.
func compress(lines []string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, strings.NewReader(strings.Join(lines, ""))); err != nil {
		return nil, err
	}
	return &b, z.Close()
}
