package provider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// firstOf is a host that keeps its ledger in a file, and its first card.
func (r *rack) firstOf(t *testing.T, file string) (h *host, card string) {
	t.Helper()
	h = r.hostOf(t, file, true)
	list, err := h.devices(context.Background(), opened(t, h))
	if err != nil {
		t.Fatal(err)
	}
	return h, list[0].uuid
}

// A host that is started anew takes back what the earlier one has assigned, and makes the
// card whole again with the last part.
func TestLedgerOutlivesHost(t *testing.T) {
	r := newRack()
	file := filepath.Join(t.TempDir(), "partitions.json")
	ctx := context.Background()
	first, card := r.firstOf(t, file)
	var parts []string
	for range 3 {
		p, err := first.assign(ctx, opened(t, first), "cpx", card)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p.uuid)
	}
	first.shutdown()

	second := r.hostOf(t, file, true)
	if p, err := second.assign(ctx, opened(t, second), "cpx", card); err != nil || p.uuid != card+"-cpx-3" {
		t.Errorf("%v, %v: a part that somebody may have", p, err)
	} else {
		parts = append(parts, p.uuid)
	}
	if _, err := second.assign(ctx, opened(t, second), "dpx", card); resultOf(err) != exhausted || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
	for i, p := range parts {
		if r.modes()[0] != "CPX" {
			t.Fatalf("divided as %s after %d were taken back", r.modes()[0], i)
		}
		if err := second.remove(ctx, opened(t, second), p, card); err != nil {
			t.Error(err)
		}
	}
	if r.modes()[0] != "SPX" {
		t.Errorf("after the last part the card is divided as %s", r.modes()[0])
	}
	second.shutdown()
	third := r.hostOf(t, file, true)
	opened(t, third)
	if third.ledger.list != nil || len(third.ledger.before) != 0 {
		t.Errorf("%+v %v", third.ledger.list, third.ledger.before)
	}
}

// Parts of an earlier host are given away when all others are, and no process uses them; the
// others never.
func TestAbandonedParts(t *testing.T) {
	r := newRack()
	file := filepath.Join(t.TempDir(), "partitions.json")
	ctx := context.Background()
	first, card := r.firstOf(t, file)
	for range 2 {
		if _, err := first.assign(ctx, opened(t, first), "qpx", card); err != nil {
			t.Fatal(err)
		}
	}
	first.shutdown()
	r.use(0, 0, 7) // part 0 has its worker, that of part 1 is gone
	second := r.hostOf(t, file, true)
	for _, want := range []string{"-qpx-2", "-qpx-3", "-qpx-1"} {
		p, err := second.assign(ctx, opened(t, second), "qpx", card)
		if err != nil || p.uuid != card+want {
			t.Fatalf("%v, %v, want %s", p, err, want)
		}
	}
	if _, err := second.assign(ctx, opened(t, second), "qpx", card); resultOf(err) != exhausted {
		t.Errorf("%v", err)
	}
}

// What is noted of a card that is divided otherwise now is of no use: it was divided by
// somebody else, or the machine was started anew.
func TestLedgerOfAnotherTime(t *testing.T) {
	r := newRack()
	file := filepath.Join(t.TempDir(), "partitions.json")
	ctx := context.Background()
	first, card := r.firstOf(t, file)
	old, err := first.assign(ctx, opened(t, first), "cpx", card)
	if err != nil {
		t.Fatal(err)
	}
	first.shutdown()
	r.mu.Lock()
	r.mode[0] = "SPX"
	r.mu.Unlock()
	second := r.hostOf(t, file, true)
	if err := second.remove(ctx, opened(t, second), old.uuid, card); err != nil {
		t.Error(err)
	}
	if p, err := second.assign(ctx, opened(t, second), "dpx", card); err != nil || p.uuid != card+"-dpx-0" {
		t.Errorf("%v, %v", p, err)
	}
}

// A file that cannot be read or written ends nothing.
func TestLedgerFile(t *testing.T) {
	ctx := context.Background()
	for _, content := range []string{"", "{", `{"version":2}`, `{"version":1,"parts":[{"uuid":"x","card":"../x","mode":"CPX","part":-1}],"before":{"x":"Y"}}`} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		h := newRack().hostOf(t, file, true)
		if list, err := h.devices(ctx, opened(t, h)); err != nil || len(list) != 2 || len(h.ledger.list)+len(h.ledger.before) != 0 {
			t.Errorf("%q: %v %v", content, err, h.ledger.list)
		}
	}
	r := newRack()
	h := r.hostOf(t, filepath.Join(t.TempDir(), "no such folder", "f"), true)
	list, err := h.devices(ctx, opened(t, h))
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.assign(ctx, opened(t, h), "cpx", list[0].uuid)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.remove(ctx, opened(t, h), p.uuid, list[0].uuid); err != nil || r.modes()[0] != "SPX" {
		t.Errorf("%v %v", err, r.modes())
	}
	for env, want := range map[string]string{"none": "", "/x/y": "/x/y"} {
		if got := stateFile(func(string) string { return env }); got != want {
			t.Errorf("%s: %q", env, got)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"version":1,"parts":[{"uuid":"c-cpx-1","card":"c","mode":"CPX","part":1}],"before":{"c":"SPX"}}`))
	f.Add([]byte(`{"version":1,"parts":[{"uuid":"c-cpx-1","card":"c","mode":"CPX","part":1},{"uuid":"c-dpx-1","card":"c","mode":"DPX","part":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, before, err := decodeState(b)
		if err != nil && (list != nil || before != nil) {
			t.Error("an error and a ledger")
		}
		at := map[[2]any]bool{}
		for _, a := range list {
			k := [2]any{a.card, a.part}
			if at[k] || a.part < 0 || a.part >= maxParts || !strings.HasPrefix(a.uuid, a.card+"-") || !a.inherited {
				t.Errorf("%+v", a)
			}
			at[k] = true
		}
	})
}

// What is wrong is said of whoever can mend it: of local cards no worker is to blame.
func TestPartNotShown(t *testing.T) {
	for _, local := range []bool{true, false} {
		r := newRack()
		r.hidden = true
		h := r.hostOf(t, "", local)
		list, err := h.devices(context.Background(), opened(t, h))
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.assign(context.Background(), opened(t, h), "cpx", list[0].uuid)
		for range 8 { // the first part is the card itself
			if err == nil {
				_, err = h.assign(context.Background(), opened(t, h), "cpx", list[0].uuid)
			}
		}
		if !errors.Is(err, smi.ErrUnavailable) || strings.Contains(err.Error(), "worker") == local {
			t.Errorf("local %v: %v", local, err)
		}
	}
}
