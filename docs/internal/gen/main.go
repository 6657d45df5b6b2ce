// Command gen draws a picture of boxes that stand on one another, as SVG, from a text:
//
//	columns N            how wide it is
//	band TITLE           what follows, up to the next, lies in a frame with this title
//	row                  what follows stands beside one another
//	box NAME C TITLE     a box in column C, or in columns C-D; behind a | that stands alone in
//	                     its words is a second line, unless two spaces go before it
//	arrow FROM TO TEXT   from one box to another, straight down or up where they overlap
//
// Empty lines, and those that begin with #, say nothing. Drawing the same text twice gives the same picture.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "", "the picture")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	p, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	var b bytes.Buffer
	p.draw(&b)
	return os.WriteFile(out, b.Bytes(), 0o644)
}
