package main

import (
	"context"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi/smitest"
)

// The live table on a terminal shows what happened between two readings.
func TestCallsOnTerminal(t *testing.T) {
	screen, program := pty(t, 120, 30)
	seen := appears(screen)
	env := map[string]string{"TF_WORKER_HOST": worker1(t, smitest.NewMachine(1, 0))}
	ctx, stop := context.WithCancel(t.Context())
	code, errs := make(chan int, 1), newLines()
	go func() {
		code <- run(ctx, []string{"calls", "-n", "0.1"}, func(k string) string { return env[k] }, program, program, errs)
	}()
	seen.wait(t, "hipModuleLaunchKernel") // since the start
	seen.wait(t, "No calls.")             // and none since then
	stop()
	select {
	case c := <-code:
		if c != 0 || errs.String() != "" {
			t.Errorf("exit %d, %q", c, errs)
		}
	case <-time.After(time.Minute):
		t.Fatal("does not end")
	}
}
