//go:build linux && amd64

package main

import (
	"bytes"
	"os"
	"testing"
)

// The committed page is what the code says.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/instructions.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, page()) {
		t.Error("docs/instructions.md is not what the code says: go generate ./simgpu/exec")
	}
}
