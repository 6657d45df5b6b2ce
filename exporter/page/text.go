package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters of a name are shown.
const maxText = 200

// clean is s as it can be shown to a person: valid, not longer than maxText, and
// without characters that are not seen but change how others are (control characters,
// marks of direction, invisible spaces). Those become U+FFFD, so that a name which
// holds one does not look like one which does not.
func clean(s string) string {
	if len(s) > maxText*utf8.UTFMax { // no more than that can be of use
		s = s[:maxText*utf8.UTFMax]
	}
	n := 0
	s = strings.Map(func(r rune) rune {
		n++
		switch {
		case n > maxText+1:
			return -1
		case n == maxText+1:
			return '…'
		case r == '\u200c' || r == '\u200d': // joiners, which some scripts need
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			return utf8.RuneError
		}
		return r
	}, s)
	return strings.ToValidUTF8(s, "\uFFFD")
}

// cleanAll is clean for each.
func cleanAll(s ...*string) {
	for _, p := range s {
		*p = clean(*p)
	}
}

// reason is an error as text, "" for nil.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return clean(err.Error())
}
