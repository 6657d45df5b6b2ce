package docs

import (
	"fmt"
	"strings"
)

// command is a line that a reader types.
type command struct {
	where, text string
}

// commands are the lines of a block that are typed: all of them, or those behind a $ where it shows what is answered as well.
func (b block) commands() (all []command) {
	lines := strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		where, text := fmt.Sprintf("%s:%d", b.page, b.line+i), lines[i]
		if b.kind == "console" {
			typed, ok := strings.CutPrefix(text, "$ ")
			if !ok {
				continue
			}
			text = typed
		}
		for strings.HasSuffix(text, "\\") && i+1 < len(lines) {
			i++
			text += "\n" + lines[i]
		}
		if strings.TrimSpace(text) != "" {
			all = append(all, command{where, text})
		}
	}
	return all
}
