// Package hexdoc keeps bytes in a document equal to what a program makes of them, and its text equal to another. A block of the document is
//
//	```hex NAME
//	52504948 0002 0300  # what the bytes are
//	00*1000             # a byte that is repeated
//	```
//
// and a test gives the bytes as they really are, with the words for each line. A text from elsewhere stands between
//
//	<!-- NAME -->
//	<!-- end -->
package hexdoc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Line is a line of a block: bytes that belong together, in groups, and what they are.
type Line struct {
	Groups [][]byte
	Text   string
}

// Doc is a document that is compared with what is.
type Doc struct {
	file string
	text string
	seen map[string]bool
	diff bool
}

// Open reads a document.
func Open(file string) (*Doc, error) {
	b, err := os.ReadFile(file)
	return &Doc{file: file, text: string(b), seen: map[string]bool{}}, err
}

// Check compares a block with what it ought to say, and puts that in its place in memory.
func (d *Doc) Check(name string, lines []Line) error {
	return d.between("```hex "+name+"\n", "```\n", format(lines))
}

// Text compares a text from elsewhere, likewise.
func (d *Doc) Text(name, text string) error {
	return d.between("<!-- "+name+" -->\n", "<!-- end -->\n", text)
}

func (d *Doc) between(begin, end, now string) error {
	before, rest, found := strings.Cut(d.text, begin)
	if !found || d.seen[begin] {
		return fmt.Errorf("%s: no %q, or it was checked before", d.file, begin)
	}
	d.seen[begin] = true
	old, rest, found := strings.Cut(rest, end)
	switch {
	case !found:
		return fmt.Errorf("%s: %q does not end", d.file, begin)
	case old == now:
		return nil
	}
	d.diff = true
	d.text = before + begin + now + end + rest
	return fmt.Errorf("%s: behind %q there should be\n%s", d.file, begin, now)
}

// Unchecked names the blocks, of those whose name begins so, that no Check has seen.
func (d *Doc) Unchecked(prefix string) (names []string) {
	for _, l := range strings.Split(d.text, "\n") {
		if name, ok := strings.CutPrefix(l, "```hex "); ok && strings.HasPrefix(name, prefix) && !d.seen[l+"\n"] {
			names = append(names, name)
		}
	}
	return names
}

// Rewrite writes the document with what Check was given.
func (d *Doc) Rewrite() error {
	if !d.diff {
		return nil
	}
	return os.WriteFile(d.file, []byte(d.text), 0o644)
}

// rowMax is how many bytes of one group stand in a row.
const rowMax = 40

func format(all []Line) string {
	var lines []Line
	for _, l := range all {
		for len(l.Groups) == 1 && len(l.Groups[0]) > rowMax && !repeated(l.Groups[0]) {
			p := l.Groups[0]
			lines = append(lines, Line{[][]byte{p[:rowMax]}, l.Text})
			l = Line{[][]byte{p[rowMax:]}, ""}
		}
		lines = append(lines, l)
	}
	hexes, width := make([]string, len(lines)), 0
	for i, l := range lines {
		var groups []string
		for _, g := range l.Groups {
			if len(g) > 0 {
				groups = append(groups, group(g))
			}
		}
		hexes[i] = strings.Join(groups, " ")
		width = max(width, len(hexes[i]))
	}
	var b strings.Builder
	for i, l := range lines {
		if l.Text == "" {
			fmt.Fprintln(&b, hexes[i])
			continue
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, hexes[i], l.Text)
	}
	return b.String()
}

// group is bytes as text: repeated ones are counted.
func group(p []byte) string {
	if repeated(p) {
		return fmt.Sprintf("%02x*%d", p[0], len(p))
	}
	return fmt.Sprintf("%x", p)
}

func repeated(p []byte) bool {
	return len(p) > 36 && bytes.Count(p, p[:1]) == len(p)
}
