package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// ask measures smi-remote fleet.
func (b *bench) ask(ctx context.Context, n int) error {
	const subject = "smi-remote fleet"
	if b.ended[subject] {
		return nil
	}
	before, err := b.workers.tell(request{})
	if err != nil {
		return err
	}
	times := 3
	if n >= 1000 { // as many answers are their own average
		times = 1
	}
	x := row{subject: subject, workers: n}
	var took []time.Duration
	for range times {
		cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "smi-remote"), "fleet", "--workers", b.file, "--timeout", b.patience.String(), "--json")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, []string{"ROCWIRE_CONFIG=/dev/null"}
		asked, err := b.workers.processor()
		if err != nil {
			return err
		}
		begin := time.Now()
		err = cmd.Run()
		wall := time.Since(begin)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var doc struct {
			Workers []struct {
				State    string `json:"state"`
				Count    int    `json:"gpu_count"`
				Sessions int    `json:"session_count"`
			} `json:"workers"`
		}
		if e := json.Unmarshal(out.Bytes(), &doc); e != nil {
			return fmt.Errorf("smi-remote: %w, %w: %.500s", err, e, errs.String())
		}
		seen, late, sessions := 0, 0, 0
		for _, w := range doc.Workers {
			switch {
			case w.Count != cardsOf:
			case w.State == "degraded": // the workers' process could not read all cards within a second
				late++
				fallthrough
			case w.State == "ok":
				seen++
			}
			sessions += w.Sessions
		}
		if late > 0 || seen < n { // a worker gives its cards a second, of processors that all of them share
			x.note = fmt.Sprintf("%d workers tell old figures of a card and %d none, having too little of the processors", late, n-seen)
		}
		if seen < n-n/10 || seen == n && (err != nil || sessions != b.sessions) {
			b.end(subject, n, "%d of %d workers and %d of %d sessions are seen: %v: %.300s", seen, n, sessions, b.sessions, err, errs.String())
			return nil
		}
		used, err := b.workers.processor()
		if err != nil {
			return err
		}
		x.asked += (used - asked) / time.Duration(times)
		took = append(took, wall)
		x.processor += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(times)
		x.memory = max(x.memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
	}
	after, err := b.workers.tell(request{})
	if err != nil {
		return err
	}
	slices.Sort(took)
	x.time = took[times/2]
	x.bytes = int64(after.Workers.Out-before.Workers.Out+after.Workers.In-before.Workers.In) / int64(times)
	b.add(x)
	if x.time > b.interval {
		b.limit(subject, n, "it takes %v, longer than %v", x.time, b.interval)
	}
	return nil
}
