package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rocwire/rocwire/smi"
)

// width is what a line of a table fits into.
const width = 80

type alignment bool

const (
	left  alignment = false
	right alignment = true
)

// column is one column of a table: at most limit characters wide, if that is not 0.
type column struct {
	title string
	align alignment
	limit int
}

// table is rows of cells, with notes under some of them.
type table struct {
	columns []column
	rows    []row
}

type row struct {
	cells []string
	notes []string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, row{cells: cells}) }

// note puts lines under the last row.
func (t *table) note(lines ...string) {
	r := &t.rows[len(t.rows)-1]
	r.notes = append(r.notes, lines...)
}

func (t *table) print(w io.Writer) {
	widths := make([]int, len(t.columns))
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
		widths[i] = utf8.RuneCountInString(c.title)
		for _, r := range t.rows {
			n := utf8.RuneCountInString(r.cells[i])
			if c.limit > 0 {
				n = min(n, c.limit)
			}
			widths[i] = max(widths[i], n)
		}
	}
	t.line(w, titles, widths)
	for _, r := range t.rows {
		t.line(w, r.cells, widths)
		for _, n := range r.notes {
			fmt.Fprintln(w, clip("       "+n, width))
		}
	}
}

func (t *table) line(w io.Writer, cells []string, widths []int) {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		c = clip(c, widths[i])
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if t.columns[i].align == right {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	fmt.Fprintln(w, clip(strings.TrimRight(b.String(), " "), width))
}

// clip cuts a text to n characters and shows that it did.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// clean makes a text from afar safe to print.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// or is a value as it prints, "-" if it is not available.
func or[T any](v smi.Opt[T]) string {
	if x, ok := v.Get(); ok {
		return fmt.Sprint(x)
	}
	return "-"
}

// with formats a value if it is available.
func with[T any](v smi.Opt[T], format func(T) string) string {
	if x, ok := v.Get(); ok {
		return format(x)
	}
	return "-"
}

func orBytes(v smi.Opt[smi.Bytes]) string { return with(v, bytesText) }

func bytesText(b smi.Bytes) string {
	if b < 1024 {
		return strconv.FormatUint(uint64(b), 10) + " B"
	}
	f := float64(b) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f < 1023.95 || unit == "TiB" {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		f /= 1024
	}
	return ""
}

func orPercent(v smi.Opt[smi.Ratio]) string {
	return with(v, func(r smi.Ratio) string { return fmt.Sprintf("%.0f", float64(r)*100) })
}

func orMHz(v smi.Opt[smi.Hertz]) string {
	return with(v, func(h smi.Hertz) string { return fmt.Sprintf("%.0f", float64(h)/1e6) })
}

func orRound[T ~float64](v smi.Opt[T]) string {
	return with(v, func(x T) string { return fmt.Sprintf("%.0f", float64(x)) })
}

func orJoules(v smi.Opt[smi.Joules]) string {
	return with(v, func(j smi.Joules) string { return si(float64(j)) + "J" })
}

// si writes a number with one decimal and a prefix.
func si(f float64) string {
	for _, prefix := range []string{" ", " k", " M", " G"} {
		if f < 999.95 || prefix == " G" {
			return fmt.Sprintf("%.1f%s", f, prefix)
		}
		f /= 1000
	}
	return ""
}

func orSeconds(v smi.Opt[smi.Duration]) string {
	return with(v, func(d smi.Duration) string {
		if t := time.Duration(d); t >= time.Hour {
			return t.Round(time.Second).String()
		}
		return fmt.Sprintf("%.2f s", d.Seconds())
	})
}

// clientText says who a remote program is.
func clientText(c *smi.Client) string {
	who := dash(clean(c.User)) + "@" + dash(clean(c.Host))
	pid := "-"
	if c.PID != 0 {
		pid = strconv.FormatUint(uint64(c.PID), 10)
	}
	return fmt.Sprintf("%s, pid %s, %s", who, pid, dash(clean(c.Executable)))
}

// placeText says where in Kubernetes a remote program runs, if it does.
func placeText(c *smi.Client) string {
	s := ""
	if c.Pod != "" {
		s += ", pod " + clean(c.Namespace) + "/" + clean(c.Pod)
	}
	if c.Container != "" {
		s += ", container " + clean(c.Container)
	}
	return s
}
