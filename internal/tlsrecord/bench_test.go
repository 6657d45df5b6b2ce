package tlsrecord

import (
	"fmt"
	"testing"
)

// BenchmarkLong makes and opens the records of a long message. With -cpu 1,2,4: by how many cores.
func BenchmarkLong(b *testing.B) {
	for _, s := range suites {
		data := noise(8 << 20)
		b.Run(fmt.Sprintf("seal/%#04x", uint16(s)), func(b *testing.B) {
			w, _ := halves(b, s)
			w.size = 512 << 10
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for rest := data; len(rest) > 0; {
					if err := w.Fill(rest, nil); err != nil {
						b.Fatal(err)
					}
					w.Sent(len(w.Pending()))
					rest = rest[w.Taken(len(rest)):]
				}
			}
		})
		b.Run(fmt.Sprintf("open/%#04x", uint16(s)), func(b *testing.B) {
			w, r := halves(b, s)
			in := sealAll(b, w, data)
			start := *r.half
			r.most = 512 << 10
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r.half = new(Half)
				*r.half = start
				r.r, r.w = 0, 0
				for from, to := 0, 0; to < len(data); {
					n := copy(r.Space(), in[from:])
					r.Filled(n)
					from += n
					n, err := r.Read(data[to:])
					if err != nil {
						b.Fatal(err)
					}
					to += n
				}
			}
		})
	}
}
