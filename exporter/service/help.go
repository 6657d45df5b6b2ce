package service

import (
	"regexp"
	"strings"
)

// helpColumn is where the explanation of a flag begins, and helpWidth where it ends, as in
// the programs' own part of their help.
const (
	helpColumn = 26
	helpWidth  = 110
)

// flagHead is the beginning of a line about flags: the flags, and what is given with
// each, which is in capitals, a choice, or alone before a gap.
var flagHead = regexp.MustCompile(`^(?:-[a-z], )?--[a-z0-9-]+(?: (?:[A-Z][A-Z:|]*|\S*\|\S*|\S+(?:  |$)))?(?:, --[a-z0-9-]+(?: [A-Z]+)?)?`)

// brackets are what some put around a default.
var brackets = regexp.MustCompile(`\B\[([^\[\]]*)\]$`)

// layout gives the help of several packages one form. What explains a flag begins on
// its line and goes on in lines that are indented further.
func layout(text string) string {
	var out strings.Builder
	var head string
	var words []string
	flush := func() {
		if head != "" {
			writeFlag(&out, head, words)
		}
		head, words = "", nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		body := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "  -"):
			flush()
			head = strings.TrimSpace(flagHead.FindString(body))
			words = strings.Fields(strings.TrimPrefix(body, head))
		case strings.HasPrefix(line, "   "):
			words = append(words, strings.Fields(body)...)
		default:
			flush()
			out.WriteString(line + "\n")
		}
	}
	flush()
	return out.String()
}

func writeFlag(out *strings.Builder, head string, words []string) {
	words = strings.Fields(brackets.ReplaceAllString(strings.Join(words, " "), "($1)"))
	line := "  " + head
	indent := strings.Repeat(" ", helpColumn)
	if len(line)+1 > helpColumn && len(words) > 0 {
		out.WriteString(line + "\n")
		line = indent
	} else {
		line += indent[min(len(line), helpColumn):]
	}
	room := false // the line has no word yet
	for _, w := range words {
		if room && len(line)+1+len(w) > helpWidth {
			out.WriteString(line + "\n")
			line, room = indent, false
		}
		if room {
			line += " "
		}
		line, room = line+w, true
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
}
