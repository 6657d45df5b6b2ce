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

	"github.com/rocwire/rocwire/conformance/internal/gguf"
	"github.com/rocwire/rocwire/smiremote"
)

// llamaPackages are llama.cpp, its backends for CPUs and HIP, and what they link. AMD's HIP is not among them: ours takes its place.
var llamaPackages = []string{
	"llama.cpp-tools", "libllama0", "libggml0", "libggml0-backend-hip", "libhipblas2", "librocblas4", "libroctx64-4",
	"libgomp1", "libssl3t64", "libzstd1", "zlib1g", "libc6", "libstdc++6", "libgcc-s1",
}

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
	short     int // which prompts
	long      int
}

// What the CPU rounds the GPU's kernels round elsewhere: the caches of keys and values, the accumulators of flash attention, the vectors that
// quantized matrices are multiplied with. With all of them in single precision nothing is left but the order of sums.
var llamaRuns = []llamaRun{
	{"single precision", gguf.F32, []string{"--flash-attn", "off", "--cache-type-k", "f32", "--cache-type-v", "f32"}, 48, 0.001, 0.01, 72, 154},
	{"half precision, flash attention", gguf.F16, []string{"--flash-attn", "on"}, 48, 0.05, 0.05, 62, 154},
	{"8 bits", gguf.Q80, []string{"--flash-attn", "off", "--cache-type-k", "f32", "--cache-type-v", "f32"}, 24, 0.2, 0.2, 333, 45},
}

// prompts are a short one, one that fills more than one tile of a matrix, and the short one again.
func (r *llamaRun) prompts() [3][]int {
	const letters = modelVocabulary - modelFirst - modelBytes
	letter := func(i int) int { return modelFirst + modelBytes + i%letters }
	short := []int{letter(7 * r.short % 250), letter((31*r.short + 5) % 250), letter((13*r.short + 9) % 250), letter(r.short % 250)}
	long := make([]int, 70)
	for i := range long {
		long[i] = letter(r.long + i*(2*(r.long%8)+3))
	}
	return [3][]int{short, long, short}
}

// conformLlama runs Debian's llama.cpp, unmodified, with a small random model: what its HIP backend generates on a simulated gfx90a, graphs and
// all, must be what its CPU backend generates. Debian's backend has no code for gfx942, where it must end with HIP's word for that.
func conformLlama(ctx context.Context, o *options) (failed int, err error) {
	if err := fetch(ctx, o, llamaPackages); err != nil {
		return 0, err
	}
	l := &llama{o: o}
	if l.dir, err = os.MkdirTemp("", "rocwire-llama-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(l.dir)
	if err := l.backends(); err != nil {
		return 0, err
	}
	began := time.Now()
	for _, r := range llamaRuns {
		if !o.match.MatchString("llama/" + r.name) {
			continue
		}
		start := time.Now()
		done, err := l.compare(ctx, &r)
		failed += report("llama.cpp on gfx90a, "+r.name, done, err, time.Since(start))
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

// backends makes the folders.
func (l *llama) backends() error {
	l.cpu, l.hip = filepath.Join(l.dir, "cpu"), filepath.Join(l.dir, "hip")
	return errors.Join(linkBackends(l.o.tree, l.cpu, false), linkBackends(l.o.tree, l.hip, true))
}

// compare runs the prompts on the CPU and on a worker.
func (l *llama) compare(ctx context.Context, r *llamaRun) (done string, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.timeout)
	defer cancel()
	model := filepath.Join(l.dir, "model.gguf")
	if err := writeModel(model, r.matrices); err != nil {
		return "", err
	}
	right, err := l.generate(ctx, r, l.cpu, nil, append([]string{"--device", "none"}, r.flags...))
	if err != nil {
		return "", fmt.Errorf("on the CPU: %w", err)
	}
	w, err := startWorker(ctx, l.o, "--sim-arch", "gfx90a")
	if err != nil {
		return "", err
	}
	defer w.stop()
	got, err := l.generate(ctx, r, l.hip, []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port}, append([]string{"--n-gpu-layers", "all"}, r.flags...))
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
	calls, err := llamaCalls(ctx, w, len(right)*r.tokens)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d tokens as on the CPU, probabilities e^±%.2g; %s", len(right)*r.tokens, worst, calls), nil
}

// generate starts a server in a folder and has it complete the prompts.
func (l *llama) generate(ctx context.Context, r *llamaRun, folder string, env, flags []string) (all [3][]choice, err error) {
	s, err := startLlama(ctx, l.o, folder, filepath.Join(l.dir, "model.gguf"), env, flags...)
	if err != nil {
		return all, err
	}
	defer s.stop()
	if err := s.ready(ctx); err != nil {
		return all, err
	}
	for i, prompt := range r.prompts() {
		fmt.Fprintf(os.Stderr, "conformance: llama.cpp, %s, %s: prompt %d of %d\n", r.name, filepath.Base(folder), i+1, len(all))
		if all[i], err = s.complete(ctx, prompt, r.tokens); err != nil {
			return all, fmt.Errorf("prompt %d: %w", i+1, err)
		}
	}
	return all, nil
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

// llamaCalls tells what the worker was asked for: kernels, graphs that were instantiated, and graph launches for most of the tokens. Without
// them the tokens were generated elsewhere.
func llamaCalls(ctx context.Context, w *worker, tokens int) (string, error) {
	c := smiremote.NewClient(smiremote.Options{Address: "127.0.0.1:" + w.port, Name: "conformance"})
	defer c.Close()
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
		case launches > 0 && graphs > 0 && whole >= uint64(tokens)/2:
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
	if err := writeModel(filepath.Join(l.dir, "model.gguf"), r.matrices); err != nil {
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
