//go:build linux

package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/slurm"
	"github.com/rocwire/rocwire/internal/slurm/slurmtest"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// cluster is Slurm on this machine, two nodes of it, and two workers with two cards each. Each node has a card of each worker.
type cluster struct {
	*slurmtest.Cluster
	workers []*worker.Server
	cards   map[string][]string // UUIDs of each node's
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	slurmtest.Need(t, "srun", "sbatch", "scancel", "sinfo")
	dir := slurmtest.Dir(t)
	c := &cluster{cards: map[string][]string{}}
	config, layout := "workers:\n", slurm.Layout{Nodes: map[string][]slurm.Card{}}
	for i, arch := range []string{"gfx90a", "gfx942"} {
		socket := filepath.Join(dir, fmt.Sprintf("gpu%d.sock", i))
		log := slog.New(slog.DiscardHandler)
		b, err := simbackend.New(simbackend.Options{Arch: arch, Cards: 2, MemoryBytes: 1 << 30}, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Source.Close() })
		c.workers = append(c.workers, workertest.Start(t, worker.Config{
			Backend: b, Log: log, Socket: worker.Socket{Path: socket}, Access: access.Config{IssuedFile: filepath.Join(dir, fmt.Sprintf("issued%d", i))},
		}))
		config += fmt.Sprintf("  gpu%d: {address: \"unix:%s\"}\n", i, socket)
		devices, err := b.Source.Devices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for n, d := range devices {
			node := fmt.Sprintf("n%d", n+1)
			card := slurm.Card{Worker: fmt.Sprintf("gpu%d", i), UUID: d.UUID, Type: slurm.TypeOf(&d)}
			if node == "n2" && i == 0 {
				card.Part = slurm.Part{Memory: "256M"}
			}
			layout.Nodes[node] = append(layout.Nodes[node], card)
			c.cards[node] = append(c.cards[node], d.UUID)
		}
	}
	write(t, dir, "config.yaml", config, 0o644)
	b, err := layout.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "slurm.yaml", string(b), 0o644)
	gres, err := os.Create(filepath.Join(dir, "gres.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := layout.GRES(gres, []string{"n1", "n2"}, filepath.Join(dir, "cards")); err != nil {
		t.Fatal(err)
	}
	gres.Close()
	for _, n := range []string{"n1", "n2"} {
		if err := slurm.Devices(&layout, n, filepath.Join(dir, "cards")); err != nil {
			t.Skipf("no devices can be made: %v", err)
		}
	}
	// Slurm says what it wants by a variable; where the files are in this test, it cannot.
	write(t, dir, "script", fmt.Sprintf(`#!/bin/sh
[ "$SLURM_SCRIPT_CONTEXT" = prolog_task ] || export ROCWIRE_CONFIG=%[1]s/config.yaml
case $SLURM_SCRIPT_CONTEXT in prolog_slurmd) do=prolog;; epilog_slurmd) do=epilog;; *) do=task-prolog;; esac
exec %[2]s %[3]s $do --layout %[1]s/slurm.yaml --state %[1]s/jobs 2>>%[1]s/errors
`, dir, os.Args[0], asProgram), 0o755)
	scripts := ""
	for _, when := range []string{"Prolog", "Epilog", "TaskProlog"} {
		scripts += when + "=" + dir + "/script\n"
	}
	const cards = "gpu:mi210:1,gpu:mi300x:1"
	c.Cluster = slurmtest.New(t, dir, slurmtest.Options{Nodes: []slurmtest.Node{{Name: "n1", GRES: cards}, {Name: "n2", GRES: cards}}, Conf: "PrologFlags=Alloc\n" + scripts})
	c.Start(t)
	return c
}

func write(t *testing.T, dir, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// run is a job that is waited for.
func (c *cluster) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	e := exec.CommandContext(ctx, "srun", args...)
	e.Env, e.Dir = append(os.Environ(), "SLURM_CONF="+c.Dir+"/slurm.conf"), c.Dir
	var says strings.Builder
	e.Stderr = &says
	out, err := e.Output()
	if err != nil {
		b, _ := os.ReadFile(filepath.Join(c.Dir, "errors"))
		t.Fatalf("srun %v: %v\n%s%s%s", args, err, out, says.String(), b)
	}
	return string(out)
}

// sessions are those of both workers.
func (c *cluster) sessions() (list []smi.Session) {
	for _, w := range c.workers {
		list = append(list, w.Sessions()...)
	}
	return list
}

// nothingLeft waits until the workers have no session and no token of a job.
func (c *cluster) nothingLeft(t *testing.T) {
	t.Helper()
	c.Until(t, "the workers are as before", func() bool { return len(c.sessions()) == 0 && c.tokens(t) == 0 })
}

// tokens counts those of both workers.
func (c *cluster) tokens(t *testing.T) (n int) {
	t.Helper()
	for i := range c.workers {
		b, err := os.ReadFile(filepath.Join(c.Dir, fmt.Sprintf("issued%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(b), `"id"`)
	}
	return n
}

// TestSlurm: jobs of a real Slurm get the cards they were allocated, wherever those are, and no others; when they are over, nothing of them is left.
func TestSlurm(t *testing.T) {
	c := startCluster(t)
	me := os.Args[0]

	// Two jobs with a card each, at the same time on one node: not the same one, and their sessions say whose they are.
	for range 2 {
		e := c.Command("sbatch", "-w", "n1", "--gres=gpu:1", "-o", c.Dir+"/out-%j", "--wrap", "exec "+me+" "+asJob+" 1h")
		if out, err := e.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	c.Until(t, "both jobs use their cards", func() bool { return len(c.sessions()) == 2 && len(c.said(t)) == 2 })
	var cards, jobs []string
	for _, s := range c.said(t) {
		if len(s.UUIDs) != 1 {
			t.Errorf("a job with one card sees %v", s.UUIDs)
		}
		cards = append(cards, s.UUIDs...)
	}
	for _, s := range c.sessions() {
		jobs = append(jobs, s.Client.Job)
		if s.Client.User != "root" || len(s.Devices) != 1 || s.Devices[0] != 0 {
			t.Errorf("%+v", s)
		}
	}
	slices.Sort(cards)
	slices.Sort(jobs)
	if want := slices.Sorted(slices.Values(c.cards["n1"])); !slices.Equal(cards, want) || !slices.Equal(jobs, []string{"1", "2"}) {
		t.Errorf("jobs %v have the cards %v, want %v", jobs, cards, want)
	}
	if c.tokens(t) != 2 {
		t.Errorf("%d tokens for two cards", c.tokens(t))
	}

	// One of them is ended in the middle; the other goes on.
	if out, err := c.Command("scancel", "1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.Until(t, "its session is over", func() bool { return len(c.sessions()) == 1 && c.tokens(t) == 1 })
	if s := c.sessions(); s[0].Client.Job != "2" {
		t.Errorf("%+v", s)
	}

	// A job with two cards of two workers, on one node; and one with a card on each of two nodes.
	two := reports(t, c.run(t, "-w", "n2", "--gres=gpu:2", me, asJob, "0"))
	if len(two) != 1 || !slices.Equal(two[0].UUIDs, c.cards["n2"]) {
		t.Errorf("%+v, want %v", two, c.cards["n2"])
	}
	if out, err := c.Command("scancel", "2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.nothingLeft(t)
	each := reports(t, c.run(t, "-N2", "--gres=gpu:mi300x:1", me, asJob, "0"))
	slices.SortFunc(each, func(a, b seen) int { return strings.Compare(a.Node, b.Node) })
	if len(each) != 2 || !slices.Equal(each[0].UUIDs, c.cards["n1"][1:]) || !slices.Equal(each[1].UUIDs, c.cards["n2"][1:]) {
		t.Errorf("%+v, want %v", each, c.cards)
	}

	// Steps with one of the job's two cards each.
	step := me + " " + asJob + " 0"
	out := c.run(t, "-w", "n1", "--gres=gpu:mi210:1,gpu:mi300x:1", "--overlap", "sh", "-c", "srun --overlap --gres=gpu:mi210:1 "+step+"; srun --overlap --gres=gpu:mi300x:1 "+step)
	steps := reports(t, out)
	if len(steps) != 2 || !slices.Equal(steps[0].UUIDs, c.cards["n1"][:1]) || !slices.Equal(steps[1].UUIDs, c.cards["n1"][1:]) {
		t.Errorf("%s, want %v", out, c.cards["n1"])
	}

	// Two tasks of one step and one of another, at once, with a part of a card: there is room for two of them.
	said := filepath.Join(c.Dir, "said")
	if err := os.Mkdir(said, 0o755); err != nil {
		t.Fatal(err)
	}
	taker := "srun --overlap --gres=gpu:mi210:1 -n%d " + me + " " + asTaker + " 100 3 " + said
	c.run(t, "-w", "n2", "-N1", "-n1", "-c3", "--gres=gpu:mi210:1", "--overlap", "sh", "-c", fmt.Sprintf(taker+" & "+taker+"; wait", 2, 1))
	results := map[string]int{}
	list, _ := filepath.Glob(said + "/*")
	for _, f := range list {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		results[string(b)]++
	}
	if want := map[string]int{"256 MiB: hipSuccess": 2, "256 MiB: hipErrorOutOfMemory": 1}; !maps.Equal(results, want) {
		t.Errorf("%v took %v, want %v", list, results, want)
	}

	// What a job leaves behind has no session any more when the job is over.
	c.run(t, "-w", "n1", "--gres=gpu:1", me, asJob, "leave")
	c.nothingLeft(t)

	// A job without cards has no token and no worker.
	if out = c.run(t, "-w", "n1", "sh", "-c", "echo host=$TF_WORKER_HOST"); strings.TrimSpace(out) != "host="+os.Getenv("TF_WORKER_HOST") {
		t.Errorf("without cards: %s", out)
	}
	// That is the last that an epilog does, and Slurm begins the next job meanwhile.
	c.Until(t, "what was written for the jobs is gone", func() bool { left, _ := filepath.Glob(c.Dir + "/jobs/*/*"); return len(left) == 0 })
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "errors")); len(b) != 0 {
		t.Errorf("%s", b)
	}
}

// said are the reports of batch jobs.
func (c *cluster) said(t *testing.T) (list []seen) {
	t.Helper()
	files, _ := filepath.Glob(c.Dir + "/out-*")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.LastIndexByte(string(b), '\n'); i >= 0 { // whole lines
			list = append(list, reports(t, string(b[:i+1]))...)
		}
	}
	return list
}
