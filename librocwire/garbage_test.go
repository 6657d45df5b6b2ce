package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGarbage calls every function of the library with nulls, stale and foreign handles, and sizes that are 0, huge or overflow,
// through a worker. Each gets a process and a session of its own: none may crash or hang, the worker must live on, each wrong argument
// is answered with the code that hip/api.json has for it, and what claims to work must do more than answer that it is not supported.
func TestGarbage(t *testing.T) {
	for name, args := range map[string][]string{"libamdhip64.so.6": nil, "libamdhip64.so.7": {"-DGARBAGE_NEXT"}} {
		t.Run(name, func(t *testing.T) { garbageOf(t, filepath.Join(built, "lib", name), args) })
	}
}

func garbageOf(t *testing.T, lib string, args []string) {
	bin := filepath.Join(built, "garbage-"+filepath.Base(lib))
	build(t, "gcc", append(args, "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-D_GNU_SOURCE", "-Ihip/include",
		"librocwire/testdata/garbage.c", "-o", bin, lib, "-Wl,-rpath,"+filepath.Dir(lib), "-lm", "-lpthread")...)
	list, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Cards with images, of which no program takes all memory from the others.
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--sim-cards", "2", "--session-memory", "256M")
	module, err := filepath.Abs(filepath.Join(root, "examples/kernels/gfx90a/vector_add.co"))
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "GARBAGE_MODULE="+module, "GARBAGE_KERNEL=vector_add")
	dir := t.TempDir()
	type job struct{ name, works string }
	jobs := make(chan job)
	var wg sync.WaitGroup
	var exact atomic.Int64 // calls of which the table knows the answer
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				exact.Add(garbage(t, bin, dir, env, j.name, j.works == "1"))
			}
		}()
	}
	n := 0
	for _, l := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		name, works, _ := strings.Cut(l, " ")
		jobs <- job{name, works}
		n++
	}
	close(jobs)
	wg.Wait()
	if n < 10 || exact.Load() < int64(n) {
		t.Errorf("called only %d functions, and knew the answers of %d calls", n, exact.Load())
	}
	t.Logf("%d functions, %d calls with a known answer", n, exact.Load())
	runs(t, env, program(t, "examples/hello_hip/hello_hip.c")) // nobody else has noticed
}

// garbage calls one function, and returns how many of the calls the table knew the answer of.
func garbage(t *testing.T, bin, dir string, env []string, name string, works bool) (exact int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, name)
	cmd.Dir = dir // where a function writes a file that it was told to
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Errorf("%s: hangs\n%s", name, &out)
		return 0
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, &out)
		return 0
	}
	_, answers, ok := strings.Cut(out.String(), "ANSWERED "+name)
	if !ok {
		t.Errorf("%s was not called\n%s", name, &out)
		return 0
	}
	answers, rest, _ := strings.Cut(answers, "\n")
	if _, err := fmt.Sscanf(rest, "EXACT %d", &exact); err != nil {
		t.Errorf("%s does not say how many answers it knew: %v", name, err)
	}
	if works && answers == " 801 " && exact == 0 { // the table may say that this is the answer
		t.Errorf("%s claims to work and answers nothing but hipErrorNotSupported", name)
	}
	return exact
}
