package attribution

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of texts, in bytes.
const (
	maxCommand = 512
	maxName    = 253 // as long as a name in Kubernetes may be
)

// clean cuts s to at most n bytes, "…" included, and replaces what is not printable:
// it ends up on terminals and in labels. White space becomes a blank.
func clean(s string, n int) string {
	const more = "…"
	plain := len(s) <= n
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	cut := 0 // where to cut if it gets too long
	for _, c := range s {
		switch {
		case c == 0 || c == '\t' || c == '\n' || c == '\r':
			c = ' '
		case c == utf8.RuneError || !strconv.IsPrint(c):
			c = '?'
		}
		if b.Len()+utf8.RuneLen(c) > n {
			return b.String()[:cut] + more
		}
		if b.WriteRune(c); b.Len() <= n-len(more) {
			cut = b.Len()
		}
	}
	return b.String()
}

// commandLine makes one line of /proc/PID/cmdline. More than one argument is
// separated by blanks, as ps does; a title that the process gave itself often ends
// in many of them.
func commandLine(b []byte) string {
	return clean(strings.TrimRight(string(b), "\x00 \n"), maxCommand)
}
