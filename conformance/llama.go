package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocwire/rocwire/internal/llamacpp"
	"github.com/rocwire/rocwire/internal/llamacpp/gguf"
	"github.com/rocwire/rocwire/smiremote"
)

// llamaRun is one way to run the model.
//
// Its prompts are such that the CPU's best token is never closer to the second than apart, which is more than what tolerance lets differ:
// which of two that are nearly equal is larger is a question of rounding.
type llamaRun struct {
	name      string
	matrices  gguf.Type
	flags     []string
	tokens    int     // generated for each prompt
	tolerance float64 // of logarithms of probabilities
	apart     float64
	short     int  // which prompts
	long      int  //
	noGraphs  bool // the backend is told not to use any
	together  bool // all prompts at once, in a batch
}

// What the CPU rounds the GPU's kernels round elsewhere: the caches of keys and values, the accumulators of flash attention, the vectors that
// quantized matrices are multiplied with. With all of them in single precision nothing is left but the order of sums. What 4 bits are less than a number, the GPU's kernels
// subtract from the sum of what the vector was before it was quantized.
var (
	flash   = []string{"--flash-attn", "on"}
	noFlash = []string{"--flash-attn", "off"}
	exact   = []string{"--flash-attn", "off", "--cache-type-k", "f32", "--cache-type-v", "f32"}

	llamaRuns = []llamaRun{
		{name: "single precision", matrices: gguf.F32, flags: exact, tokens: 48, tolerance: 0.001, apart: 0.01, short: 72, long: 154},
		{name: "half precision", matrices: gguf.F16, flags: noFlash, tokens: 48, tolerance: 0.05, apart: 0.05, short: 62, long: 154},
		{name: "half precision, flash attention", matrices: gguf.F16, flags: flash, tokens: 48, tolerance: 0.05, apart: 0.05, short: 62, long: 154},
		{name: "half precision, no graphs", matrices: gguf.F16, flags: flash, tokens: 48, tolerance: 0.05, apart: 0.05, short: 62, long: 154, noGraphs: true},
		{name: "half precision, three at once", matrices: gguf.F16, flags: flash, tokens: 48, tolerance: 0.05, apart: 0.05, short: 62, long: 154, together: true},
		{name: "8 bits", matrices: gguf.Q80, flags: exact, tokens: 24, tolerance: 0.2, apart: 0.2, short: 333, long: 45},
		{name: "8 bits, flash attention", matrices: gguf.Q80, flags: flash, tokens: 24, tolerance: 0.2, apart: 0.2, short: 223, long: 188},
		{name: "4 bits", matrices: gguf.Q40, flags: exact, tokens: 12, tolerance: 0.6, apart: 1, short: 155, long: 670},
		{name: "4 bits, flash attention", matrices: gguf.Q40, flags: flash, tokens: 12, tolerance: 0.6, apart: 1, short: 155, long: 670},
	}
)

// prompts are a short one, one that fills more than one tile of a matrix, and the short one again.
func (r *llamaRun) prompts() [3][]int {
	letters := llamacpp.Small.Vocabulary - llamacpp.FirstLetter
	letter := func(i int) int { return llamacpp.FirstLetter + i%letters }
	short := []int{letter(7 * r.short % 250), letter((31*r.short + 5) % 250), letter((13*r.short + 9) % 250), letter(r.short % 250)}
	long := make([]int, 70)
	for i := range long {
		long[i] = letter(r.long + i*(2*(r.long%8)+3))
	}
	return [3][]int{short, long, short}
}

// conformLlama runs Debian's llama.cpp, unmodified, with a small random model: what its HIP backend generates on a simulated card that it has code for, graphs and
// all, must be what its CPU backend generates. Debian's backend has no code for gfx942, where it must end with HIP's word for that.
func conformLlama(ctx context.Context, o *options) (failed int, err error) {
	if err := fetch(ctx, o, llamacpp.Packages); err != nil {
		return 0, err
	}
	l := &llama{o: o}
	if l.dir, err = os.MkdirTemp("", "rocwire-llama-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(l.dir)
	if l.cpu, l.hip, err = llamacpp.Folders(o.tree, l.dir); err != nil {
		return 0, err
	}
	began := time.Now()
	for _, r := range llamaRuns {
		if !o.match.MatchString("llama/" + r.name) {
			continue
		}
		start := time.Now()
		done, err := l.compare(ctx, &r)
		failed += report("llama.cpp on "+o.arch+", "+r.name, done, err, time.Since(start))
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
	}
	if o.match.MatchString("llama/gfx942") {
		start := time.Now()
		done, err := l.refused(ctx)
		failed += report("llama.cpp on gfx942", done, err, time.Since(start))
	}
	fmt.Printf("llama.cpp of Debian: %d failed, %.0f s\n", failed, time.Since(began).Seconds())
	return failed, ctx.Err()
}

func report(name, done string, err error, took time.Duration) (failed int) {
	if err != nil {
		fmt.Printf("FAILED %s: %v\n", name, err)
		return 1
	}
	fmt.Printf("%s: %s  %.1f s\n", name, done, took.Seconds())
	return 0
}

// llama is the folders that the servers run in.
type llama struct {
	o        *options
	dir      string
	cpu, hip string // with the backends for CPUs, and with all
}

// compare runs the prompts on the CPU and on a worker.
func (l *llama) compare(ctx context.Context, r *llamaRun) (done string, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.timeout)
	defer cancel()
	model := filepath.Join(l.dir, "model.gguf")
	if err := llamacpp.Small.Write(model, r.matrices); err != nil {
		return "", err
	}
	right, err := l.generate(ctx, r, l.cpu, nil, append([]string{"--device", "none"}, r.flags...))
	if err != nil {
		return "", fmt.Errorf("on the CPU: %w", err)
	}
	w, err := startWorker(ctx, l.o, "--sim-arch", l.o.arch)
	if err != nil {
		return "", err
	}
	defer w.stop()
	env := []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port}
	if r.noGraphs {
		env = append(env, "GGML_CUDA_DISABLE_GRAPHS=1")
	}
	got, err := l.generate(ctx, r, l.hip, env, append([]string{"--n-gpu-layers", "all"}, r.flags...))
	if err != nil {
		return "", err
	}
	var worst float64
	for i := range right {
		d, err := r.same(right[i], got[i])
		if err != nil {
			return "", fmt.Errorf("prompt %d: %w", i+1, err)
		}
		worst = max(worst, d)
	}
	calls, err := r.calls(ctx, w)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d tokens as on the CPU, probabilities e^±%.2g; %s", len(right)*r.tokens, worst, calls), nil
}

// generate starts a server in a folder and has it complete the prompts.
func (l *llama) generate(ctx context.Context, r *llamaRun, folder string, env, flags []string) (all [3][]choice, err error) {
	prompts := r.prompts()
	at := 1 // prompts at once
	if r.together {
		at = len(prompts)
	}
	s, err := startLlama(ctx, l.o, folder, filepath.Join(l.dir, "model.gguf"), env, append([]string{
		"--parallel", fmt.Sprint(at), "--ctx-size", fmt.Sprint(at * llamacpp.Small.Context)}, flags...)...)
	if err != nil {
		return all, err
	}
	defer s.stop()
	if err := s.ready(ctx); err != nil {
		return all, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(at)
	for i, prompt := range prompts {
		g.Go(func() (err error) {
			fmt.Fprintf(os.Stderr, "conformance: llama.cpp, %s, %s: prompt %d of %d\n", r.name, filepath.Base(folder), i+1, len(all))
			if all[i], err = s.complete(ctx, prompt, r.tokens); err != nil {
				err = fmt.Errorf("prompt %d: %w", i+1, err)
			}
			return err
		})
	}
	return all, g.Wait()
}

// same compares what was generated, and tells by how much the probabilities differ at most.
func (r *llamaRun) same(right, got []choice) (worst float64, err error) {
	if len(got) != len(right) {
		return 0, fmt.Errorf("%d tokens, the CPU generates %d", len(got), len(right))
	}
	for i, c := range right {
		d := math.Abs(got[i].logProb - c.logProb)
		switch {
		case c.distance < r.apart:
			return worst, fmt.Errorf("the CPU's token %d is only %.2g better than the second, which says nothing: the prompt has to be another", i+1, c.distance)
		case got[i].token != c.token:
			return worst, fmt.Errorf("token %d is %d, the CPU's is %d, which is %.2g better than the second", i+1, got[i].token, c.token, c.distance)
		case !(d <= r.tolerance): // not NaN either
			return worst, fmt.Errorf("token %d has the probability e^%.4g, on the CPU e^%.4g", i+1, got[i].logProb, c.logProb)
		}
		worst = max(worst, d)
	}
	return worst, nil
}

// calls tells what the worker was asked for: kernels and, unless there were to be none, graphs that were instantiated, and launches of them for most of the
// tokens of a prompt. Without them the tokens were generated elsewhere.
func (r *llamaRun) calls(ctx context.Context, w *worker) (string, error) {
	c := smiremote.NewClient(smiremote.Options{Address: "127.0.0.1:" + w.port, Name: "conformance"})
	defer c.Close()
	tokens := len(r.prompts()) * r.tokens
	least := uint64(tokens) / 2
	if r.together { // most of them are in one batch
		least = uint64(r.tokens) / 2
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) { // the last of them are reported when the session ends
		totals, err := c.Calls(ctx)
		if err != nil {
			return "", err
		}
		n := map[string]uint64{}
		for _, t := range totals {
			if t.Side == "worker" && t.Code == "hipSuccess" {
				n[t.Op] += t.Count()
			}
		}
		launches, graphs, whole := n["hipModuleLaunchKernel"], n["hipGraphInstantiateWithFlags"], n["hipGraphLaunch"]
		switch {
		case r.noGraphs && graphs == 0 && whole == 0 && launches > 20*uint64(tokens):
			return fmt.Sprintf("%d kernels launched, no graphs", launches), nil
		case !r.noGraphs && launches > 0 && graphs > 0 && whole >= least:
			return fmt.Sprintf("%d kernels launched, %d graphs made, launched %d times", launches, graphs, whole), nil
		case time.Now().After(end):
			return "", fmt.Errorf("the worker launched %d kernels, and %d graphs %d times for %d tokens", launches, graphs, whole, tokens)
		}
	}
}

// refused runs a server on a card that its backend has no code for.
func (l *llama) refused(ctx context.Context) (done string, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.timeout)
	defer cancel()
	r := &llamaRuns[0]
	if err := llamacpp.Small.Write(filepath.Join(l.dir, "model.gguf"), r.matrices); err != nil {
		return "", err
	}
	w, err := startWorker(ctx, l.o, "--sim-arch", "gfx942")
	if err != nil {
		return "", err
	}
	defer w.stop()
	// The library's own word for hipErrorNoBinaryForGpu: llama.cpp's log is written behind its back, and its last lines get lost when it aborts.
	const want = "no binary for gfx942"
	_, err = l.generate(ctx, r, l.hip, []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port}, append([]string{"--n-gpu-layers", "all"}, r.flags...))
	switch {
	case err == nil:
		return "", errors.New("the backend has code for gfx942 now: its tokens should be compared")
	case !errors.Is(err, errEnded) || !strings.Contains(err.Error(), want):
		return "", fmt.Errorf("it should end with %q: %w", want, err)
	}
	return "ends, as Debian's backend has no code for it: " + want, nil
}
