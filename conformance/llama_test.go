package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/llamacpp"
)

func TestLlamaPrompts(t *testing.T) {
	for _, r := range llamaRuns {
		for _, p := range r.prompts() {
			if slices.Min(p) < llamacpp.FirstLetter || slices.Max(p) >= llamacpp.Small.Vocabulary || len(p)+r.tokens > llamacpp.Small.Context {
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
