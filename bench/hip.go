package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What "make build" made.
const (
	workerPath = "bin/hip-worker"
	libPath    = "build/lib/libamdhip64.so.6"
	helloPath  = "build/examples/hello_hip"
)

// benchHIP measures an unmodified C program on the remote library, its session process on the worker and the simulated card behind it.
func benchHIP(t *table, f *floor, dir string) error {
	if !built(t, "hip") {
		return nil
	}
	env, stop, err := startWorker()
	if err != nil {
		return err
	}
	defer stop()
	p, err := startProgram(env, dir, "hipbench")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := hipCalls(t, f, p); err != nil {
		return err
	}
	if err := hipCopies(t, f, p); err != nil {
		return err
	}
	return hello(t, env)
}

// built says whether there is what is to be measured, and the table if there is not.
func built(t *table, what string) bool {
	for _, p := range []string{workerPath, libPath, helloPath} {
		if _, err := os.Stat(p); err != nil {
			t.plain(what+": not measured", "", p+" is missing (make build)")
			return false
		}
	}
	return true
}

// startWorker starts a worker with one simulated card on a free port, and more arguments, and gives the environment of its clients.
func startWorker(args ...string) (env []string, stop func(), err error) {
	cmd := exec.Command(workerPath, append([]string{"--backend", "sim", "--port", "0"}, args...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: worker: %v\n%s", err, log.Bytes())
		}
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var host, port string
	if err == nil {
		_, err = fmt.Sscanf(line, "hip-worker listening on %s port %s", &host, &port)
	}
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("the worker says %q: %w", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	lib, err := filepath.Abs(filepath.Dir(libPath))
	if err != nil {
		stop()
		return nil, nil, err
	}
	return append(os.Environ(), "TF_WORKER_HOST="+host, "TF_WORKER_PORT="+port, "LD_LIBRARY_PATH="+lib), stop, nil
}

// program is a running program of c.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startProgram(env []string, dir, name string) (*program, error) {
	path, err := hipProgram(dir, name)
	if err != nil {
		return nil, err
	}
	return start(env, path)
}

// hipProgram compiles a program of c that uses HIP.
func hipProgram(dir, name string) (path string, err error) {
	path = filepath.Join(dir, name)
	return path, compile(path, "-Ihip/include", "bench/c/"+name+".c", libPath)
}

// start starts a program that is told what to measure.
func start(env []string, args ...string) (*program, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, err
	}
	return &program{cmd, in, bufio.NewReader(out)}, nil
}

func (p *program) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// measure gives one command to the program.
func (p *program) measure(what string, n int) ([2]float64, error) {
	var v [2]float64
	if _, err := fmt.Fprintln(p.in, what, n); err != nil {
		return v, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	if k, _ := fmt.Sscan(line, &v[0], &v[1]); k == 0 {
		return v, fmt.Errorf("%s: %q", what, line)
	}
	return v, nil
}

// graphKernels is the size of the graph that is measured.
const graphKernels = 1000

func hipCalls(t *table, f *floor, p *program) error {
	var floor50, floor99, here50, here99, issue, rates, launch, launches, single, whole, singleRun, wholeRun []float64
	for range *rounds {
		v, err := f.measure("pingpong", *calls, 52, 56)
		if err != nil {
			return err
		}
		floor50, floor99 = append(floor50, v[0]), append(floor99, v[1])
		if v, err = p.measure("sync", *calls); err != nil {
			return err
		}
		here50, here99 = append(here50, v[0]), append(here99, v[1])
		// The cost of issuing shows in bursts that the connection takes at once, the sustained rate in many calls.
		if v, err = p.measure("async", *calls); err != nil {
			return err
		}
		issue = append(issue, v[0])
		if v, err = p.measure("async", 50**calls); err != nil {
			return err
		}
		rates = append(rates, v[1])
		if v, err = p.measure("launch", *calls); err != nil {
			return err
		}
		launch, launches = append(launch, v[0]), append(launches, v[1])
		if v, err = p.measure("graph", graphKernels); err != nil {
			return err
		}
		single, whole = append(single, v[0]), append(whole, v[1])
		if v, err = p.measure("graphrun", graphKernels); err != nil {
			return err
		}
		singleRun, wholeRun = append(singleRun, v[0]), append(wholeRun, v[1])
	}
	t.row("hip: sync call p50 (hipMemcpy of 4 bytes from the device), floor TCP ping-pong", floor50, here50, micros, 1.3, false)
	t.row("hip: sync call p99", floor99, here99, micros, 0, false)
	t.plain("hip: async call, issue cost (hipMemsetD32Async of a word)", fmt.Sprintf("%.2f µs", median(issue)/1e3), "≤ 0.5 µs: "+verdict(median(issue) <= 500))
	t.plain("hip: async calls, sustained to execution", fmt.Sprintf("%.2f M/s", median(rates)/1e6), "≥ 1 M/s: "+verdict(median(rates) >= 1e6))
	t.plain("hip: kernel launch, issue cost", fmt.Sprintf("%.2f µs", median(launch)/1e3), "")
	times := median(single) / median(whole)
	t.plain("hip: a graph of 1000 kernels, launched", fmt.Sprintf("%.1f µs, one by one %.0f µs", median(whole)/1e3, median(single)/1e3),
		fmt.Sprintf("≥ 5 × faster, one message: %.0f ×, %s", times, verdict(times >= 5)))
	t.plain("hip: a graph of 1000 kernels, until the simulator has executed it", fmt.Sprintf("%.2f ms, one by one %.2f ms", median(wholeRun)/1e6, median(singleRun)/1e6), "")
	t.plain("hip: kernel launches, executed by the simulator", fmt.Sprintf("%.3f M/s", median(launches)/1e6), "")
	return nil
}

// bothWays measures a copy within the host, to the device and from it, one after the other.
func bothWays(f *floor, p *program) (host, to, from float64, err error) {
	h, err := f.measure("memcpy", *size, 3)
	if err != nil {
		return 0, 0, 0, err
	}
	t, err := p.measure("to", *size)
	if err != nil {
		return 0, 0, 0, err
	}
	r, err := p.measure("from", *size)
	if err != nil {
		return 0, 0, 0, err
	}
	return h[0], t[0], r[0], nil
}

func hipCopies(t *table, f *floor, p *program) error {
	var bare, mem, to, from []float64
	for i := range *rounds + 1 {
		b, err := f.measure("bulk", *size, 3)
		if err != nil {
			return err
		}
		c, u, d, err := bothWays(f, p)
		if err != nil {
			return err
		}
		if i == 0 { // warms up
			continue
		}
		bare, mem, to, from = append(bare, b[0]), append(mem, c), append(to, u), append(from, d)
	}
	mib := fmt.Sprintf("hip: hipMemcpy of %d MiB", *size>>20)
	t.row(mib+" to the device, floor bare socket", bare, to, rate, 0.9, true)
	t.row(mib+" from the device, floor bare socket", bare, from, rate, 0.9, true)
	t.row(mib+" to the device, floor memcpy", mem, to, rate, 0, true)
	t.row(mib+" from the device, floor memcpy", mem, from, rate, 0, true)
	return nil
}

// hello measures hello_hip.
func hello(t *table, env []string) error {
	var times []float64
	for i := range *rounds + 1 {
		v, err := life(env, helloPath)
		if err != nil {
			return err
		}
		if i > 0 {
			times = append(times, v)
		}
	}
	t.plain("hip: hello_hip from start to end", fmt.Sprintf("%.0f ms", median(times)/1e6), "")
	return nil
}

// life is how long hello_hip lives, in ns: loading the library, the session, the code object, two copies, a kernel, a copy.
func life(env []string, args ...string) (float64, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASSED") {
		return 0, fmt.Errorf("hello_hip: %w: %s", err, out)
	}
	return float64(time.Since(begin)), nil
}
