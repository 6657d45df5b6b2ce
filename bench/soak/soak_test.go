package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test's program be the clients.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "client" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSoak is a short soak of few clients.
func TestSoak(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	if err := run(options{length: 10 * time.Second, warm: 5 * time.Second, clients: 8, programs: 8, kills: 30, memory: 32}); err != nil {
		t.Fatal(err)
	}
}

// TestLeak: the soak sees what is left behind.
func TestLeak(t *testing.T) {
	before := figures{memory: 50 << 20, descriptors: 20, processes: 1}
	for name, leak := range map[string]figures{
		"memory": {memory: 67 << 20}, "descriptors": {descriptors: 9}, "threads": {threads: 9}, "goroutines": {goroutines: 9}, "processes": {processes: 3},
		"users": {users: 3}, "network namespaces": {namespaces: 3}, "sessions": {sessions: 1},
	} {
		after := before
		after.memory += leak.memory
		after.descriptors += leak.descriptors
		after.threads += leak.threads
		after.goroutines += leak.goroutines
		after.processes += leak.processes
		after.users += leak.users
		after.namespaces += leak.namespaces
		after.sessions += leak.sessions
		if grown := after.grown(before, after.allowance(16<<20)); len(grown) != 1 || !strings.HasPrefix(grown[0], name+" from") {
			t.Errorf("%s: %q", name, grown)
		}
	}
	if grown := before.grown(before, before.allowance(0)); grown != nil {
		t.Errorf("%q have grown", grown)
	}
}

// TestMeasure: the figures are of this process.
func TestMeasure(t *testing.T) {
	memory, threads, uid, err := status(os.Getpid())
	if err != nil || memory < 1<<20 || threads < 2 || uid != os.Getuid() {
		t.Error(memory, threads, uid, err)
	}
	if _, err := (&server{metrics: "http://127.0.0.1:1/"}).goroutines(context.Background()); err == nil {
		t.Error("metrics of nobody")
	}
}
