package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The committed file is what the table gives.
func TestUpToDate(t *testing.T) {
	want, err := generate("../../ops.tsv")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../zz_ops.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("zz_ops.go does not follow from ops.tsv: run go generate ./simgpu/gcn")
	}
}

func TestBadRows(t *testing.T) {
	good := "VOP1\tv_x\t1\t-1\t-1\t-1\td=v:i32 0=vs:f32\t-\t0\t0\t0/0\t-"
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{"\t-1", ""}, {"d=v", "q=v"}, {":f32", ":f33"}, {"=vs", "=zz"}, {"\t1\t", "\tone\t"}, {"0/0", "0"}, {"\t-\t0\t", "\twhat\t0\t"},
	} {
		if _, err := parse(strings.Replace(good, c.old, c.new, 1)); err == nil {
			t.Errorf("accepted with %q for %q", c.new, c.old)
		}
	}
}
