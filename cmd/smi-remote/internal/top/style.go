package top

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// style is how a piece of the view looks. Those without colour stay without.
type style int

const (
	plain style = iota
	bold
	faint
	chosen
	good
	warn
	bad
)

// paint gives s a look.
func (m *Model) paint(k style, s string) string {
	st := ansi.NewStyle()
	switch k {
	case plain:
		return s
	case bold:
		return st.Bold().Styled(s)
	case faint:
		return st.Faint().Styled(s)
	case chosen:
		return st.Reverse(true).Styled(s)
	}
	if m.opt.NoColor {
		return s
	}
	switch k {
	case good:
		st = st.ForegroundColor(ansi.Green)
	case warn:
		st = st.ForegroundColor(ansi.Yellow)
	default:
		st = st.ForegroundColor(ansi.Red)
	}
	return st.Styled(s)
}

// level is how a share of a whole looks.
func level(share float64) style {
	switch {
	case share >= 0.9:
		return bad
	case share >= 0.6:
		return warn
	}
	return good
}

// bar is a share as a picture of a width, "-" if it is not known.
func (m *Model) bar(share smi.Opt[smi.Ratio], width int) string {
	r, ok := share.Get()
	if !ok {
		return text.Pad("-", width, false)
	}
	f := min(max(float64(r), 0), 1)
	n := int(f*float64(width-2) + 0.5)
	return "[" + m.paint(level(f), strings.Repeat("|", n)) + strings.Repeat(" ", width-2-n) + "]"
}

// percent is a share in percent with its sign.
func percent(share smi.Opt[smi.Ratio]) string {
	return text.With(share, func(r smi.Ratio) string { return fmt.Sprintf("%.0f%%", float64(r)*100) })
}
