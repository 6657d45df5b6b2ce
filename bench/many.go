package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// manyTime is how long each round of many clients goes on.
const manyTime = time.Second

// benchMany measures many clients of one worker at once, and many threads of one client, beside as many pairs of bare processes: by shared memory and over TCP.
func benchMany(t *table, _ *floor, dir string) error {
	for _, p := range []string{workerPath, libPath} {
		if _, err := os.Stat(p); err != nil {
			t.plain("many: not measured", "", p+" is missing (make build)")
			return nil
		}
	}
	pairs, client := filepath.Join(dir, "pairs"), filepath.Join(dir, "many")
	if err := errors.Join(compile(pairs, "bench/c/pairs.c"), compile(client, "-pthread", "-Ihip/include", "bench/c/many.c", libPath)); err != nil {
		return err
	}
	env, stop, err := startWorker()
	if err != nil {
		return err
	}
	defer stop()
	for _, way := range []struct {
		name string
		env  []string
	}{{"many", env}, {"many over TCP", append(slices.Clip(env), "TF_WORKER_SHM=0")}} {
		for _, c := range []struct{ clients, threads int }{{1, 1}, {16, 1}, {64, 1}, {1, 8}} {
			if err := manyRows(t, way.name, pairs, client, way.env, c.clients, c.threads); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyRows measures so many clients, each with so many threads.
func manyRows(t *table, way, pairs, client string, env []string, clients, threads int) error {
	var bare, here, bare99, here99 []float64
	for range *rounds {
		b, err := (&floor{pairs}).measure(clients*threads, manyTime.Milliseconds())
		if err != nil {
			return err
		}
		calls, p99, err := runMany(client, env, clients, threads)
		if err != nil {
			return err
		}
		bare, bare99 = append(bare, b[0]), append(bare99, b[1])
		here, here99 = append(here, calls/manyTime.Seconds()), append(here99, p99)
	}
	name := fmt.Sprintf("%s: %d clients", way, clients)
	if threads > 1 {
		name = fmt.Sprintf("%s: %d threads of a client", way, threads)
	}
	t.row(name+", sync calls together", bare, here, thousands, 0.5, true)
	limit := 0.0
	if clients == 16 {
		limit = 3
	}
	t.row(name+", p99 of a call", bare99, here99, micros, limit, false)
	return nil
}

func thousands(n float64) string { return fmt.Sprintf("%.1f k/s", n/1e3) }

// runMany starts the clients, lets all begin at once, and gives their calls together and the worst p99.
func runMany(client string, env []string, n, threads int) (calls, p99 float64, err error) {
	type process struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
	}
	var all []process
	defer func() {
		for _, p := range all {
			_ = p.in.Close()
			_ = p.cmd.Wait()
		}
	}()
	for range n {
		cmd := exec.Command(client, fmt.Sprint(threads), fmt.Sprint(manyTime.Milliseconds()))
		cmd.Env, cmd.Stderr = env, os.Stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			return 0, 0, err
		}
		all = append(all, process{cmd, in, bufio.NewReader(out)})
	}
	for _, p := range all {
		if line, err := p.out.ReadString('\n'); err != nil {
			return 0, 0, fmt.Errorf("a client says %q: %w", line, err)
		}
	}
	for _, p := range all {
		if _, err := io.WriteString(p.in, "\n"); err != nil {
			return 0, 0, err
		}
	}
	for _, p := range all {
		var k, worst float64
		if _, err := fmt.Fscan(p.out, &k, &worst); err != nil {
			return 0, 0, err
		}
		calls, p99 = calls+k, max(p99, worst)
	}
	return calls, p99, nil
}
