package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestGarbage calls every function of the library with nulls, stale and foreign handles, and sizes that are 0, huge or overflow,
// through a worker. Each gets a process and a session of its own: none may crash or hang, the worker must live on, and what claims to
// work must do more than answer that it is not supported.
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
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a") // which has images
	dir := t.TempDir()
	type job struct{ name, works string }
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				garbage(t, bin, dir, env, j.name, j.works == "1")
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
	if n < 10 {
		t.Errorf("called only %d functions", n)
	}
	runs(t, env, program(t, "examples/hello_hip/hello_hip.c")) // nobody else has noticed
}

func garbage(t *testing.T, bin, dir string, env []string, name string, works bool) {
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
		return
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, &out)
		return
	}
	_, answers, ok := strings.Cut(out.String(), "ANSWERED "+name)
	if !ok {
		t.Errorf("%s was not called\n%s", name, &out)
		return
	}
	answers, _, _ = strings.Cut(answers, "\n")
	if works && answers == " 801 " {
		t.Errorf("%s claims to work and answers nothing but hipErrorNotSupported", name)
	}
}
