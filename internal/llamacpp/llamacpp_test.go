package llamacpp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/internal/llamacpp/gguf"
)

func TestModel(t *testing.T) {
	tokens := map[string]bool{}
	for _, e := range Small.metadata() {
		if list, ok := e.Value.([]string); ok {
			for _, s := range list {
				tokens[s] = true
			}
		}
	}
	if len(tokens) != Small.Vocabulary || !tokens["<0x0A>"] || !tokens["Ā"] {
		t.Errorf("%d different tokens, want %d", len(tokens), Small.Vocabulary)
	}
	var elements int
	for _, x := range Small.tensors(gguf.F32) {
		if len(x.Shape) == 2 {
			elements += len(x.Values)
		}
	}
	if n := Small.Parameters(); n != elements {
		t.Errorf("%d parameters, of which there are %d", n, elements)
	}
	var first []byte
	for i, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Small.Write(path, gguf.Q80); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = b
		} else if !slices.Equal(first, b) {
			t.Error("the same model is written differently")
		}
	}
}

func TestSpeed(t *testing.T) {
	const good = `[{"n_prompt":64,"n_gen":0,"avg_ts":430.5},{"n_prompt":0,"n_gen":16,"avg_ts":19.25}]`
	if s, err := readSpeed([]byte(good)); err != nil || s != (Speed{430.5, 19.25}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "{}", "[]", `[{"n_prompt":64,"n_gen":0,"avg_ts":430.5}]`, `[{"n_prompt":64,"n_gen":0,"avg_ts":0},{"n_prompt":0,"n_gen":16,"avg_ts":19.25}]`} {
		if s, err := readSpeed([]byte(bad)); err == nil {
			t.Errorf("%s: %v", bad, s)
		}
	}
}
