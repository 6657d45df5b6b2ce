package smi

import "strings"

// Printable is s without what would disturb a terminal: names and reasons that come
// from elsewhere are whatever somebody wrote there.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return '?'
		}
		return r
	}, s)
}
