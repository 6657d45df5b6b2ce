package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// conformSimCheck runs our kernels and the suite of hip.Runtime under all checks of
// the simulator, which find nothing there: what they say of correct programs is false.
func conformSimCheck(ctx context.Context, _ *options) (failed int, err error) {
	for _, test := range [][2]string{{"./simgpu/exec", "TestChecksFindNothing"}, {"./simgpu", "TestCheckedConformance"}} {
		c := exec.CommandContext(ctx, "go", "test", "-tags", "conformance", "-count=1", "-timeout", "30m", "-run", "^"+test[1]+"$", test[0])
		c.Env, c.Stdout, c.Stderr = append(os.Environ(), "GOFLAGS=-trimpath"), os.Stdout, os.Stderr
		c.WaitDelay = 10 * time.Second
		if c.Run() != nil {
			fmt.Printf("sim-check: FAILED %s %s\n", test[0], test[1])
			failed++
		}
	}
	return failed, ctx.Err()
}
