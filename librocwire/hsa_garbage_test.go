package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestHSAGarbage calls every function of the library before hsa_init, and then with nulls, handles of nothing and of other things, addresses that lead nowhere
// and sizes that are 0, huge or overflow. What is implemented answers an error of HSA's, what is not HSA_STATUS_ERROR and writes nothing; none ends the process.
func TestHSAGarbage(t *testing.T) {
	bin := buildHSA(t, "hsa_garbage")
	list, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	if len(names) != 256 {
		t.Errorf("it has %d functions", len(names))
	}
	module, err := filepath.Abs(filepath.Join(root, "examples/kernels/gfx90a/variables.co"))
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "ROCWIRE_SIM_ARCH=gfx90a", "HSA_GARBAGE_MODULE="+module) // a card with images
	jobs := make(chan []string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for some := range jobs {
				hsaGarbage(t, bin, env, some)
			}
		})
	}
	for some := range slices.Chunk(names, 8) {
		jobs <- some
	}
	close(jobs)
	wg.Wait()
}

// hsaGarbage calls some functions, in a process of their own.
func hsaGarbage(t *testing.T, bin string, env, names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, names...)
	cmd.Env = env
	b, err := cmd.CombinedOutput()
	out := string(b)
	switch {
	case ctx.Err() != nil:
		t.Errorf("hangs:\n%s", out)
	case err != nil || strings.Contains(out, "goroutine "): // a panic that was caught is a defect, too
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range names {
		if !strings.Contains(out, "hsa garbage: "+name+" ok\n") {
			t.Errorf("%s was not found right", name)
		}
	}
}
