package hexdoc

import (
	"os"
	"path/filepath"
	"testing"
)

const sample = "# A\n\n```hex x: one\n0102 03  # three\n00*50    # many\n```\n<!-- t -->\ntext\n<!-- end -->\n```hex x: two\n```\n"

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(file, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	one := []Line{{[][]byte{{1, 2}, {3}}, "three"}, {[][]byte{make([]byte, 50)}, "many"}}
	if err := d.Check("x: one", one); err != nil {
		t.Error(err)
	}
	if d.Text("t", "text\n") != nil || d.Text("u", "") == nil || d.Check("x: one", one) == nil {
		t.Error("what is there, is not, or is checked twice")
	}
	if left := d.Unchecked("x: "); len(left) != 1 || left[0] != "x: two" {
		t.Errorf("unchecked: %q", left)
	}
	if d.Rewrite() != nil || d.Check("x: two", []Line{{[][]byte{{9}}, "nine"}}) == nil || d.Rewrite() != nil {
		t.Error("a difference was not seen, or not written")
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != sample[:len(sample)-4]+"09  # nine\n```\n" {
		t.Errorf("%q, %v", b, err)
	}
}
