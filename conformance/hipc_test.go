package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples"
)

// A program is judged by its exit status, its words and its time.
func TestHIPProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fine": "echo well: ok", "silent": "true", "fails": "echo well: ok; exit 3", "hangs": "exec sleep 100", "asks": `echo "$1: ok in $LD_LIBRARY_PATH"`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for run, want := range map[string]string{
		"fine.c": "", "silent.c": "does not stand in", "fails.c": "exit status 3", "asks.c well": "", "asks.c other": "other: ok in /the/library",
	} {
		o := &options{timeout: time.Minute}
		why, err := hipProgram(context.Background(), o, dir, "/the/library", nil, examples.Program{Run: run, Wants: "well: ok"})
		if err != nil || (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%s: %q, %v, want %q", run, why, err, want)
		}
	}
	why, err := hipProgram(context.Background(), &options{timeout: 50 * time.Millisecond}, dir, "", nil, examples.Program{Run: "hangs.c"})
	if err != nil || !strings.Contains(why, "longer") {
		t.Errorf("a program that hangs: %q, %v", why, err)
	}
}

// The list names programs that there are.
func TestProgramsAreThere(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range examples.Programs {
		source, _, _ := strings.Cut(p.Run, " ")
		listed[source] = true
		if _, err := os.Stat(filepath.Join("..", source)); err != nil {
			t.Error(err)
		}
	}
	// Some are run in ways of their own, by librocwire's tests.
	for _, n := range []string{"devices", "lazy", "next", "rtc"} {
		listed["examples/tests/"+n+".c"] = true
	}
	all, err := filepath.Glob("../examples/tests/*.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !listed[strings.TrimPrefix(f, "../")] {
			t.Errorf("%s is in no list", f)
		}
	}
	for run := range examples.OwnWords {
		found := false
		for _, p := range examples.Programs {
			found = found || p.Run == run
		}
		if !found {
			t.Errorf("%s is not run", run)
		}
	}
}
