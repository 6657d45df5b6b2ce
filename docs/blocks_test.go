package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// block is one of a page, between ``` and ```.
type block struct {
	page, kind string
	file       string // its second word: the file that it is, for the commands of the page
	line       int    // of its first line
	text       string
}

func (b block) where() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// pages are README.md and those beside this file.
func pages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) < 30 {
		t.Fatal(names, err)
	}
	return append([]string{"../README.md"}, names...)
}

func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var here *block
	for i, line := range strings.Split(string(text), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case !fence && here != nil:
			here.text += line + "\n"
		case fence && here != nil:
			if info != "" {
				t.Errorf("%s:%d: %q ends a block", page, i+1, line)
			}
			all, here = append(all, *here), nil
		case fence:
			b := block{page: filepath.Base(page), line: i + 2}
			b.kind, b.file, _ = strings.Cut(info, " ")
			here = &b
		}
	}
	if here != nil {
		t.Errorf("%s does not end", here.where())
	}
	return all
}
