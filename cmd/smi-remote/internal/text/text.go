// Package text is how smi-remote shows values to people: figures with units, names
// from afar made safe to print, and tables that fit a width.
//
// Names of programs, hosts and users come from anywhere; what this package returns
// has no control characters in it.
package text

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells of a terminal s takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Clip cuts s to a width and shows that it did.
func Clip(s string, width int) string {
	switch {
	case width <= 0:
		return ""
	case Width(s) <= width:
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// Pad is s with blanks behind it up to a width, in front of it with right; what is
// wider is clipped.
func Pad(s string, width int, right bool) string {
	s = Clip(s, width)
	blanks := strings.Repeat(" ", max(width-Width(s), 0))
	if right {
		return blanks + s
	}
	return s + blanks
}

// Wrap breaks a text without line ends into lines of a width, of which there are at
// most so many; what is more is cut.
func Wrap(s string, width, lines int) []string {
	all := strings.Split(ansi.Wrap(s, max(width, 1), " ,"), "\n")
	if len(all) > lines {
		all = all[:lines]
		all[lines-1] = Clip(all[lines-1]+"……", width)
	}
	return all
}

// Clean makes a text from afar safe to print.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// Dash is s made safe, "-" if there is none.
func Dash(s string) string {
	if s = strings.TrimSpace(Clean(s)); s == "" {
		return "-"
	}
	return s
}
