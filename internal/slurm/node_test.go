//go:build linux

package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	os.Exit(m.Run())
}

// house is two workers with two cards each, and a node with all of these, the second worker's in the other order.
type house struct {
	dir  string
	node *Node
	env  map[string]string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{dir: dir, env: map[string]string{"ROCWIRE_CONFIG": dir + "/config.yaml"}}
	h.node = &Node{Layout: dir + "/slurm.yaml", State: dir + "/jobs", Timeout: 5 * time.Second, Getenv: func(s string) string { return h.env[s] }}
	config, l := "workers:\n", Layout{Nodes: map[string][]Card{}}
	for i := range 2 {
		log := slog.New(slog.DiscardHandler)
		b, err := simbackend.New(simbackend.Options{Arch: []string{"gfx90a", "gfx942"}[i], Cards: 2, MemoryBytes: 1 << 28}, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Source.Close() })
		workertest.Start(t, worker.Config{Backend: b, Log: log, Socket: worker.Socket{Path: fmt.Sprintf("%s/w%d.sock", dir, i)}, Access: access.Config{IssuedFile: fmt.Sprintf("%s/issued%d", dir, i)}})
		config += fmt.Sprintf("  w%d: {address: \"unix:%s/w%d.sock\"}\n", i, dir, i)
		devices, err := b.Source.Devices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			slices.Reverse(devices)
		}
		for _, d := range devices {
			l.Nodes["n1"] = append(l.Nodes["n1"], Card{Worker: fmt.Sprintf("w%d", i), UUID: d.UUID, Type: "gpu"})
		}
	}
	config += fmt.Sprintf("  away: {address: %q}\n", freeport.Nobody(t))
	l.Nodes["n2"] = []Card{{Worker: "away", UUID: "GPU-1", Type: "gpu"}}
	b, err := l.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"config.yaml": config, "slurm.yaml": string(b)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *house) job(id string, cards ...int) *Job {
	return &Job{ID: id, Cluster: "c", Node: "n1", User: "alice", UID: os.Getuid(), GID: os.Getgid(), Cards: cards}
}

// tokens are those that the workers hold, by what their files say.
func (h *house) tokens(t *testing.T) (ids []string) {
	t.Helper()
	for i := range 2 {
		b, err := os.ReadFile(fmt.Sprintf("%s/issued%d", h.dir, i))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if _, id, ok := strings.Cut(line, `"id": "slurm/c/n1/`); ok {
				ids = append(ids, fmt.Sprint(i, " ", id[:strings.IndexByte(id, '"')]))
			}
		}
	}
	return ids
}

// TestNode: a job's cards are numbered as Slurm numbers them, wherever they are; what an epilog could not end, the next prolog does.
func TestNode(t *testing.T) {
	h, ctx := newHouse(t), context.Background()
	j := h.job("7", 1, 2, 3)
	if err := h.node.Prolog(ctx, j); err != nil {
		t.Fatal(err)
	}
	if got := h.tokens(t); !slices.Equal(got, []string{"0 7", "1 7"}) {
		t.Errorf("tokens: %v", got)
	}
	// The second worker's cards are the other way round in the layout: Slurm's 2 is HIP's 2, its 3 is HIP's 1.
	for some, want := range map[string]string{"": "0,2,1", "2": "2", "1,3": "0,1", "9": "no"} {
		h.env["SLURM_STEP_GPUS"] = some
		lines, err := h.node.TaskProlog(j)
		if (err != nil) != (want == "no") || err == nil && !slices.Contains(lines, "export HIP_VISIBLE_DEVICES="+want) {
			t.Errorf("step with %q: %q, %v", some, lines, err)
		}
	}
	h.env["SLURM_STEP_GPUS"] = ""
	h.env["TF_WORKER_TOKEN_FILE"], h.env["ROCR_VISIBLE_DEVICES"] = "/mine", "1,2,3"
	lines, err := h.node.TaskProlog(j)
	if err != nil || !slices.Contains(lines, "export TF_WORKER_HOST=w0,w1") || !slices.Contains(lines, "unset TF_WORKER_TOKEN_FILE") || !slices.Contains(lines, "unset ROCR_VISIBLE_DEVICES") {
		t.Errorf("%q, %v", lines, err)
	}
	delete(h.env, "TF_WORKER_TOKEN_FILE")
	delete(h.env, "ROCR_VISIBLE_DEVICES")
	if info, err := os.Stat(h.dir + "/jobs/n1/7/token"); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("%v, %v", info, err)
	}
	if lines, err := h.node.TaskProlog(h.job("8")); lines != nil || err != nil {
		t.Errorf("a job without cards: %q, %v", lines, err)
	}

	// Its epilog did not come; a job with one of its cards does.
	if err := h.node.Prolog(ctx, h.job("9", 3)); err != nil {
		t.Fatal(err)
	}
	if got := h.tokens(t); !slices.Equal(got, []string{"0 7", "1 9"}) {
		t.Errorf("tokens: %v", got)
	}
	for _, id := range []string{"7", "9", "9", "10"} { // twice, and of one that was never there
		if err := h.node.Epilog(ctx, h.job(id)); err != nil {
			t.Error(err)
		}
	}
	if got := h.tokens(t); len(got) != 0 {
		t.Errorf("tokens: %v", got)
	}
	if left, _ := filepath.Glob(h.dir + "/jobs/*/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// change writes another layout in the place of the one that is there.
func (h *house) change(t *testing.T, f func(l *Layout)) {
	t.Helper()
	b, err := os.ReadFile(h.dir + "/slurm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLayout(b)
	if err != nil {
		t.Fatal(err)
	}
	f(l)
	if b, err = l.Append(nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir+"/slurm.yaml", b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestParts: two nodes have a part of one card each, and their jobs' tokens say so.
func TestParts(t *testing.T) {
	h, ctx := newHouse(t), t.Context()
	h.change(t, func(l *Layout) {
		for i := range 2 {
			l.Nodes["n1"][i].Part = Part{"64M", 50}
		}
		l.Nodes["n3"] = slices.Clone(l.Nodes["n1"][:1])
		l.Nodes["n3"][0].Part = Part{Memory: "32M"}
	})
	first, second := h.job("7", 0, 1, 2), h.job("8", 0)
	second.Node = "n3"
	if err := errors.Join(h.node.Prolog(ctx, first), h.node.Prolog(ctx, second)); err != nil {
		t.Fatal(err)
	}
	got := map[string]smi.Quota{}
	for i := range 2 {
		var all []smi.Token
		b, err := os.ReadFile(fmt.Sprintf("%s/issued%d", h.dir, i))
		if err == nil {
			err = json.Unmarshal(b, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			got[fmt.Sprint(i, " ", x.ID)] = x.Quota
		}
	}
	want := map[string]smi.Quota{
		"0 slurm/c/n1/7": {Memory: smi.Some(smi.Bytes(64 << 20)), Compute: smi.Some(smi.Ratio(0.5))}, "1 slurm/c/n1/7": {}, "0 slurm/c/n3/8": {Memory: smi.Some(smi.Bytes(32 << 20))},
	}
	if !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := errors.Join(h.node.Epilog(ctx, first), h.node.Epilog(ctx, second)); err != nil {
		t.Error(err)
	}
}

// TestPrologFails: without one of its workers a job does not begin, and leaves nothing on the others.
func TestPrologFails(t *testing.T) {
	h, ctx := newHouse(t), context.Background()
	h.change(t, func(l *Layout) {
		l.Nodes["n1"], l.Nodes["n2"] = append(l.Nodes["n1"], l.Nodes["n2"]...), nil
	})
	err := h.node.Prolog(ctx, h.job("7", 0, 4))
	if err == nil || !strings.Contains(err.Error(), "worker away") {
		t.Error(err)
	}
	if err := h.node.Prolog(ctx, h.job("7", 99)); err == nil || !strings.Contains(err.Error(), "no card 99") {
		t.Error(err)
	}
	if got := h.tokens(t); len(got) != 0 {
		t.Errorf("tokens: %v", got)
	}
	if left, _ := filepath.Glob(h.dir + "/jobs/*/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
