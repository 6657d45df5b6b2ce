//go:build ignore

// Command picture draws what a terminal showed as an SVG, for the README:
//
//	scripts/demo.sh | go run scripts/picture.go > docs/demo.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"strings"
)

const (
	charWidth, lineHeight = 8.0, 18
	margin                = 16
	maxColumns            = 110
)

func main() {
	var lines []string
	columns := 80
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		l := strings.TrimRight(in.Text(), " \r")
		if r := []rune(l); len(r) > maxColumns {
			l = string(r[:maxColumns-1]) + "…"
		}
		columns = max(columns, len([]rune(strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(l))))
		lines = append(lines, l)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
	w, h := float64(columns)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">`+"\n", w, h)
	fmt.Printf(`<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>` + "\n")
	for i, l := range lines {
		colour, weight := "#c9d1d9", "normal"
		switch {
		case strings.HasPrefix(l, "\x1b[1m"):
			colour, weight = "#79c0ff", "bold"
		case strings.HasPrefix(l, "$ "):
			colour = "#7ee787"
		case strings.HasPrefix(l, "PASSED"):
			colour, weight = "#56d364", "bold"
		}
		l = strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(l)
		if l == "" {
			continue
		}
		fmt.Printf(`<text x="%d" y="%d" fill="%s" font-weight="%s" xml:space="preserve" textLength="%.0f">%s</text>`+"\n",
			margin, margin+(i+1)*lineHeight-5, colour, weight, float64(len([]rune(l)))*charWidth, html.EscapeString(l))
	}
	fmt.Println("</svg>")
}
