//go:build ignore

// Command picture draws what a terminal showed as an SVG, for the README, and looks whether such a picture is still what is shown:
//
//	make picture                                                     makes docs/demo.svg
//	scripts/demo.sh | go run scripts/picture.go -check docs/demo.svg    CI does
//
// What differs from run to run is no difference: figures, the user and the machine, paths.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	charWidth, lineHeight = 8.0, 18
	margin                = 16
	maxColumns            = 110
)

func main() {
	check := flag.String("check", "", "the picture that should show what is read, but for figures")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(check string) error {
	lines, err := read(os.Stdin)
	if err != nil {
		return err
	}
	if check == "" {
		_, err = os.Stdout.WriteString(draw(lines))
		return err
	}
	b, err := os.ReadFile(check)
	if err != nil {
		return err
	}
	return compare(string(b), draw(lines))
}

// read is what was shown, without the folder it was shown in.
func read(r io.Reader) (lines []string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(here) // as the kernel names a program
	if err != nil {
		return nil, err
	}
	folder := strings.NewReplacer(real, "/home/you/rocwire", here, "/home/you/rocwire")
	in := bufio.NewScanner(r)
	for in.Scan() {
		l := folder.Replace(strings.TrimRight(in.Text(), " \r"))
		lines = append(lines, l)
	}
	for len(lines) > 0 && plain(lines[0]) == "" {
		lines = lines[1:]
	}
	return lines, in.Err()
}

// plain is a line without what makes it bold.
func plain(l string) string { return strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(l) }

func draw(lines []string) string {
	columns := 80
	cut := slices.Clone(lines)
	for i, l := range cut {
		if r := []rune(l); len(r) > maxColumns {
			cut[i] = string(r[:maxColumns-1]) + "…"
		}
		columns = max(columns, len([]rune(plain(cut[i]))))
	}
	var b strings.Builder
	w, h := float64(columns)*charWidth+2*margin, len(cut)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n")
	for i, l := range cut {
		colour, weight := "#c9d1d9", "normal"
		switch {
		case strings.HasPrefix(l, "\x1b[1m"):
			colour, weight = "#79c0ff", "bold"
		case strings.HasPrefix(l, "$ "):
			colour = "#7ee787"
		case strings.HasPrefix(l, "PASSED"):
			colour, weight = "#56d364", "bold"
		}
		if l = plain(l); l == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" font-weight="%s" xml:space="preserve" textLength="%.0f">%s</text>`+"\n",
			margin, margin+(i+1)*lineHeight-5, colour, weight, float64(len([]rune(l)))*charWidth, html.EscapeString(l))
	}
	return b.String() + "</svg>\n"
}

var (
	text     = regexp.MustCompile(`(?m)^<text x="\d+" y="\d+" fill="(#\w+)".*?>(.*)</text>$`)
	somebody = regexp.MustCompile(`\S+@\S+`)
	path     = regexp.MustCompile(`(^| )/\S*`) // a long one is cut
	figure   = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e-?[0-9]+)?( ([kM]?J|[KMG]?i?B|m?s|µs)\b)?`)
	spaces   = regexp.MustCompile(` +`)
)

// same is what a picture shows that every run shows: line by line, colour and text.
func same(svg string) (lines []string) {
	for _, m := range text.FindAllStringSubmatch(svg, -1) {
		l := somebody.ReplaceAllString(html.UnescapeString(m[2]), "you@here")
		l = figure.ReplaceAllString(path.ReplaceAllString(l, "$1/"), "0")
		if before, ok := strings.CutSuffix(l, "…"); ok { // where it is cut depends on its figures
			r := []rune(before)
			l = string(r[:min(len(r), 70)]) + "…"
		}
		lines = append(lines, m[1]+" "+spaces.ReplaceAllString(l, " "))
	}
	return lines
}

func compare(old, now string) error {
	was, is := same(old), same(now)
	if len(was) == 0 {
		return fmt.Errorf("there is no text in the picture")
	}
	for i := range max(len(was), len(is)) {
		var a, b string
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b {
			return fmt.Errorf("the picture is out of date (make picture makes it anew); line %d is\n\t%s\nand should be\n\t%s", i+1, cmp.Or(a, "not there"), cmp.Or(b, "not there"))
		}
	}
	return nil
}
