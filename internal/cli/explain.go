package cli

import (
	"regexp"
	"strings"
)

// explanation is what a help says of one flag.
type explanation struct {
	letter    string // "p" of -p, or ""
	value     string // "PORT", or "" of a flag that takes none
	text      string
	variables []string // that set it, too
}

var (
	explained = regexp.MustCompile(`^  (?:-([a-z]), )?--([a-z0-9-]+)(?:\[=[A-Z]+\])?(?: ([^ a-z-]\S*|\S+\|\S+)(?: |$)|  |$| )`)
	brackets  = regexp.MustCompile(`\([^()]*\)|\[[^\[\]]*\]`)
	variable  = regexp.MustCompile(`\b(?:TF|ROCWIRE|OTEL)_[A-Z0-9_]*[A-Z0-9]\b`)
)

// explain reads a help: a flag's line is indented by two spaces, what goes on in further lines by more. The variables of a flag stand
// in brackets; of those only rocwire's and OpenTelemetry's say what somebody wants, others what the machine is like.
func explain(help string) map[string]explanation {
	all := map[string]explanation{}
	name := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		if m := explained.FindStringSubmatch(line); m != nil {
			name = m[2]
			all[name] = explanation{letter: m[1], value: m[3], text: strings.TrimSpace(line[len(m[0]):])}
			continue
		}
		if e, ok := all[name]; ok && strings.HasPrefix(line, "   ") {
			e.text = strings.TrimSpace(e.text + " " + strings.TrimSpace(line))
			all[name] = e
			continue
		}
		name = ""
	}
	for name, e := range all {
		for _, b := range brackets.FindAllString(e.text, -1) {
			e.variables = append(e.variables, variable.FindAllString(b, -1)...)
		}
		all[name] = e
	}
	return all
}
