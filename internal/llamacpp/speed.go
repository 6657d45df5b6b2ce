package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Speed is how many tokens a second llama-bench saw.
type Speed struct {
	Prompt   float64 // of a prompt
	Generate float64 // generated one after the other
}

// Bench has llama-bench measure a model once, in a folder with backends, with all layers on a GPU if there is one: a prompt and what follows it, in tokens each.
func Bench(ctx context.Context, tree, lib, folder, model string, prompt, generate int, env ...string) (Speed, error) {
	cmd := Program(ctx, tree, lib, "llama-bench", "--model", model, "--n-prompt", fmt.Sprint(prompt), "--n-gen", fmt.Sprint(generate), "--repetitions", "1",
		"--n-gpu-layers", "99", "--threads", fmt.Sprint(runtime.NumCPU()), "--output", "json")
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.Output()
	if err != nil {
		why := ""
		if e, ok := err.(*exec.ExitError); ok {
			why = strings.TrimSpace(string(e.Stderr))
		}
		return Speed{}, fmt.Errorf("llama-bench in %s: %w: %s", filepath.Base(folder), err, why)
	}
	return readSpeed(out)
}

// readSpeed reads llama-bench's answer.
func readSpeed(answer []byte) (s Speed, err error) {
	var tests []struct {
		Prompt   int     `json:"n_prompt"`
		Generate int     `json:"n_gen"`
		Rate     float64 `json:"avg_ts"`
	}
	if err := json.Unmarshal(answer, &tests); err != nil {
		return s, fmt.Errorf("llama-bench's answer: %w", err)
	}
	for _, t := range tests {
		switch {
		case t.Prompt > 0 && t.Generate == 0:
			s.Prompt = t.Rate
		case t.Generate > 0 && t.Prompt == 0:
			s.Generate = t.Rate
		}
	}
	if s.Prompt <= 0 || s.Generate <= 0 {
		return s, fmt.Errorf("llama-bench says nothing of a prompt, or of what follows: %.300s", answer)
	}
	return s, nil
}
