package card

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// putText writes as much of a text as fits into shared memory, for getText.
func putText(n *atomic.Uint64, words []atomic.Uint64, text string) {
	text = text[:min(len(text), len(words)*8)]
	n.Store(0)
	for i := 0; i < len(text); i += 8 {
		var w uint64
		for j := range min(8, len(text)-i) {
			w |= uint64(text[i+j]) << (8 * j)
		}
		words[i/8].Store(w)
	}
	n.Store(uint64(len(text)))
}

// getText reads it: whatever stands there, it is a text that can be printed.
func getText(n *atomic.Uint64, words []atomic.Uint64) string {
	b := make([]byte, min(n.Load(), uint64(len(words)*8)))
	for i := range b {
		b[i] = byte(words[i/8].Load() >> (i % 8 * 8))
	}
	ascii := !utf8.Valid(b)
	for i, c := range b {
		if c < 0x20 || c == 0x7f || ascii && c >= 0x80 {
			b[i] = '?'
		}
	}
	return strings.ToValidUTF8(string(b), "?")
}
