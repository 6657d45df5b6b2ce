package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/conformance/internal/gguf"
)

func TestLlamaModel(t *testing.T) {
	tokens := map[string]bool{}
	for _, e := range modelMetadata() {
		if list, ok := e.Value.([]string); ok {
			for _, s := range list {
				tokens[s] = true
			}
		}
	}
	if len(tokens) != modelVocabulary || !tokens["<0x0A>"] || !tokens["Ā"] {
		t.Errorf("%d different tokens, want %d", len(tokens), modelVocabulary)
	}
	var first []byte
	for i, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := writeModel(path, gguf.Q80); err != nil {
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
	for _, r := range llamaRuns {
		for _, p := range r.prompts() {
			if slices.Min(p) < modelFirst+modelBytes || slices.Max(p) >= modelVocabulary || len(p)+r.tokens > modelContext {
				t.Errorf("%s: prompt %v", r.name, p)
			}
		}
	}
}

// Each of these is not what the CPU generates, and must be found out.
func TestLlamaDiffers(t *testing.T) {
	r := &llamaRun{tolerance: 0.1, apart: 0.2}
	right := []choice{{5, -1, 2}, {6, -2, 1}}
	if d, err := r.same(right, []choice{{5, -1, 2}, {6, -2.05, 1}}); err != nil || math.Abs(d-0.05) > 1e-9 {
		t.Errorf("%v, %v", d, err)
	}
	for what, got := range map[string][]choice{
		"another token":       {{5, -1, 2}, {7, -2, 1}},
		"too few":             {{5, -1, 2}},
		"another probability": {{5, -1.2, 2}, {6, -2, 1}},
		"no number":           {{5, math.NaN(), 2}, {6, -2, 1}},
	} {
		if _, err := r.same(right, got); err == nil {
			t.Errorf("%s passed", what)
		}
	}
	if _, err := r.same([]choice{{5, -1, 0.1}}, []choice{{5, -1, 0.1}}); err == nil {
		t.Error("a token that was hardly better than the second says nothing, and passed")
	}
}

func TestLlamaAnswer(t *testing.T) {
	const good = `{"tokens":[300],"completion_probabilities":[{"id":300,"top_logprobs":[{"id":300,"logprob":-0.5},{"id":301,"logprob":-2}]}]}`
	read := func(s string) ([]choice, error) { return readChoices(json.NewDecoder(strings.NewReader(s)), 1) }
	if c, err := read(good); err != nil || !slices.Equal(c, []choice{{300, -0.5, 1.5}}) {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{
		"", "{}", `{"error":{"message":"no"}}`,
		strings.Replace(good, "[300]", "[300,301]", 1),
		strings.Replace(good, "[300]", "[302]", 1),
		strings.Replace(good, `,{"id":301,"logprob":-2}`, "", 1),
	} {
		if c, err := read(bad); err == nil {
			t.Errorf("%s: %v", bad, c)
		}
	}
}
