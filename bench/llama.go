package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/llamacpp"
	"github.com/rocwire/rocwire/internal/llamacpp/gguf"
)

// llamaModel has 100 million parameters.
var llamaModel = llamacpp.Shape{Vocabulary: 8192, Width: 768, Heads: 12, KVHeads: 4, Inner: 2048, Layers: 14, Context: 512}

const (
	llamaPrompt   = 64 // tokens
	llamaGenerate = 16
	llamaRounds   = 3
	llamaTime     = 3 * time.Minute // for one run
	llamaLimit    = 0.3             // of the CPU backend's tokens a second
)

// benchLlama measures Debian's llama.cpp with a model of random numbers on a simulated card. The floor is its own backend for CPUs, on all cores like the card.
func benchLlama(t *table, _ *floor, dir string) error {
	if !built(t, "llama") {
		return nil
	}
	tree, err := debtree.Find()
	if err != nil {
		return err
	}
	p := llamacpp.Path(tree, "llama-bench")
	if _, err := os.Stat(p); err != nil {
		t.plain("llama: not measured", "", p+" is missing (go run ./conformance -only llama fetches it)")
		return nil
	}
	cpu, hip, err := llamacpp.Folders(tree, dir)
	if err != nil {
		return err
	}
	model := filepath.Join(dir, "model.gguf")
	env, stop, err := startWorker("--sim-arch", "gfx90a") // Debian's backend has code for it
	if err != nil {
		return err
	}
	defer stop()
	lib, err := filepath.Abs(filepath.Dir(libPath))
	if err != nil {
		return err
	}
	speed := func(folder string, env ...string) (llamacpp.Speed, error) {
		ctx, cancel := context.WithTimeout(context.Background(), llamaTime)
		defer cancel()
		return llamacpp.Bench(ctx, tree, lib, folder, model, llamaPrompt, llamaGenerate, env...)
	}
	for _, matrices := range []gguf.Type{gguf.F16, gguf.Q40} {
		if err := llamaModel.Write(model, matrices); err != nil {
			return err
		}
		var floor, here [2][]float64 // prompt, generate
		for range min(*rounds, llamaRounds) {
			a, err := speed(cpu)
			if err != nil {
				return err
			}
			b, err := speed(hip, env...)
			if err != nil {
				return err
			}
			floor[0], floor[1] = append(floor[0], a.Prompt), append(floor[1], a.Generate)
			here[0], here[1] = append(here[0], b.Prompt), append(here[1], b.Generate)
		}
		for i, what := range []string{fmt.Sprintf("prompt of %d tokens", llamaPrompt), "token after token"} {
			name := fmt.Sprintf("llama.cpp, %d million parameters, %v, %s, floor on the CPU", llamaModel.Parameters()/1e6, matrices, what)
			t.row(name, floor[i], here[i], func(v float64) string { return fmt.Sprintf("%.1f tokens/s", v) }, llamaLimit, true)
		}
	}
	return nil
}
