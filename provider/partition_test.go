package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func opened(t *testing.T, h *host) *library {
	t.Helper()
	l, err := h.init(true)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// look makes the next question be answered anew.
func lookAgain(t *testing.T, h *host) *library {
	l := opened(t, h)
	l.now.forget()
	if s, ok := l.src.(*smi.SharedSource); ok {
		_ = s.Set(context.Background(), -1, smi.Setting{Reset: true}) // fails, and makes it forget
	}
	return l
}

func TestTemplate(t *testing.T) {
	for id, want := range map[string]string{
		"cpx": "CPX  true", "CPX": "CPX  true", "mi300x-cpx-nps4": "CPX NPS4 true", "amd.DPX": "DPX  true", "spx": "SPX  true",
		"": "  false", "mig-1g.7gb": "  false", "cpx-dpx": "  false", "cpx-cpx": "CPX  true", "xcpx": "  false", "nps4": " NPS4 false",
		"cpx-nps1-nps4": "  false",
	} {
		c, m, ok := template(id)
		if got := fmt.Sprint(c, " ", m, " ", ok); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// A card is divided for the first part that is assigned, stays one device of the list,
// and is whole again after the last was taken back.
func TestPartitions(t *testing.T) {
	r := newRack()
	h := r.host(t)
	ctx := context.Background()
	before, err := h.devices(ctx, opened(t, h))
	if err != nil || len(before) != 2 {
		t.Fatalf("%v, %v", before, err)
	}
	c := before[0].uuid
	if !before[0].capabilities.partitioning || before[0].capabilities.maxPartitions != 8 || before[0].node != "/dev/dri/renderD128" {
		t.Errorf("%+v", before[0])
	}
	if !slices.ContainsFunc(before[0].properties, func(p property) bool {
		return p.key == "partitionTemplate.cpx" && strings.Contains(p.value, "partitions=8 computeUnits=38 ")
	}) {
		t.Errorf("no template in %v", before[0].properties)
	}

	nodes := map[string]bool{}
	var parts []string
	for i := range 8 {
		p, err := h.assign(ctx, opened(t, h), "mi300x-cpx", strings.ToUpper(c))
		if err != nil {
			t.Fatal(i, err)
		}
		if want := fmt.Sprintf("%s-cpx-%d", c, i); p.uuid != want || len(p.uuid) > 63 || strings.ContainsAny(p.uuid, ":,") {
			t.Errorf("partition %q, want %q", p.uuid, want)
		}
		if want := fmt.Sprintf("/dev/dri/renderD%d", 128+i); !slices.Equal(p.nodes, []string{"/dev/kfd", want}) {
			t.Errorf("part %d: %v", i, p.nodes)
		}
		nodes[p.nodes[1]] = true
		parts = append(parts, p.uuid)
	}
	if len(nodes) != 8 || r.modes() != [2]string{"CPX", "SPX"} {
		t.Errorf("%v %v", nodes, r.modes())
	}
	if _, err := h.assign(ctx, opened(t, h), "cpx", c); resultOf(err) != exhausted {
		t.Errorf("a ninth part: %v", err)
	}
	if _, err := h.assign(ctx, opened(t, h), "dpx", c); resultOf(err) != exhausted {
		t.Errorf("another mode while parts are assigned: %v", err)
	}

	after, err := h.devices(ctx, opened(t, h))
	if err != nil || len(after) != 2 || after[0].uuid != c || after[0].units != 304 || after[0].tflops != before[0].tflops {
		t.Errorf("%+v, %v", after, err)
	}
	r.use(0, 3, 77)
	rows, err := h.processes(ctx, lookAgain(t, h), 10)
	if err != nil || len(rows) != 1 || rows[0].uuid != parts[3] || rows[0].id != "77" || rows[0].memory != 25 || rows[0].busy != 6.25 {
		t.Errorf("%+v, %v", rows, err)
	}
	figures, err := h.metrics(ctx, opened(t, h), []string{parts[2], c, "nobody"})
	if err != nil || figures[0] == nil || figures[0].watts != 102 || figures[1] == nil || figures[1].watts != 100 || figures[2] != nil {
		t.Errorf("%v %v", figures, err)
	}

	// The card stays divided as long as somebody uses it, or has a part.
	for _, p := range parts[:7] {
		if err := h.remove(ctx, opened(t, h), strings.ToUpper(p), c); err != nil {
			t.Error(err)
		}
	}
	if r.modes()[0] != "CPX" {
		t.Errorf("%v", r.modes())
	}
	if err := h.remove(ctx, opened(t, h), parts[0], c); err != nil {
		t.Errorf("taken back twice: %v", err)
	}
	if err := h.remove(ctx, opened(t, h), "cpx", c); err != nil { // the last one, by its template
		t.Error(err)
	}
	if r.modes()[0] != "CPX" {
		t.Errorf("divided otherwise under process 77: %v", r.modes())
	}
	r.use(0, 3, 0)
	lookAgain(t, h)
	p, err := h.assign(ctx, opened(t, h), "dpx", c)
	if err != nil || r.modes()[0] != "DPX" {
		t.Fatalf("%v, %v", r.modes(), err)
	}
	if err := h.remove(ctx, opened(t, h), p.uuid, c); err != nil || r.modes()[0] != "SPX" {
		t.Errorf("%v, %v", r.modes(), err)
	}
	for _, id := range []string{"cpx", "nothing", c + "-cpx-", c + "-vpx-1", "other-cpx-1"} {
		if err := h.remove(ctx, opened(t, h), id, c); !errors.Is(err, smi.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Many allocations at once divide the card once and get different parts.
func TestAssignAtOnce(t *testing.T) {
	r := newRack()
	h := r.host(t)
	l := opened(t, h)
	list, err := h.devices(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]bool{}
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			p, err := h.assign(context.Background(), l, "cpx", list[0].uuid)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got[p.uuid] = true
			} else if resultOf(err) != exhausted {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(got) != 8 || r.opened != 2 {
		t.Errorf("%d parts, opened %d times", len(got), r.opened)
	}
}

// The same with a source that shows a divided card as one device.
func TestPartsOfOneDevice(t *testing.T) {
	r := newRack()
	r.whole = true
	h := r.host(t)
	ctx := context.Background()
	list, err := h.devices(ctx, opened(t, h))
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for i := range 4 {
		p, err := h.assign(ctx, opened(t, h), "qpx", list[1].uuid)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("/dev/dri/renderD%d", 136+i); p.uuid != fmt.Sprintf("%s-qpx-%d", list[1].uuid, i) || p.nodes[1] != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	if _, err := h.assign(ctx, opened(t, h), "qpx", list[1].uuid); resultOf(err) != exhausted {
		t.Error(err)
	}
	r.use(1, 0, 5)
	if rows, err := h.processes(ctx, lookAgain(t, h), 9); err != nil || len(rows) != 1 || rows[0].uuid != list[1].uuid {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A part that a process uses, which was assigned it before the host was started anew, is
// given away last.
func TestUsedPartLast(t *testing.T) {
	r := newRack()
	r.mode[1] = "QPX"
	for _, p := range []int{0, 2} {
		r.use(1, p, 42)
	}
	h := r.host(t)
	list, err := h.devices(context.Background(), opened(t, h))
	if err != nil || len(list) != 2 || list[1].units != 304 {
		t.Fatalf("%+v, %v", list, err)
	}
	var got []string
	for range 4 {
		p, err := h.assign(context.Background(), opened(t, h), "qpx", list[1].uuid)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.uuid[len(p.uuid)-1:])
	}
	if !slices.Equal(got, []string{"1", "3", "0", "2"}) {
		t.Errorf("%v", got)
	}
}

// A card that is in use is not divided, and one that may not be says so from then on.
func TestPartitionRefused(t *testing.T) {
	r := newRack()
	h := r.host(t)
	ctx := context.Background()
	list, err := h.devices(ctx, opened(t, h))
	if err != nil {
		t.Fatal(err)
	}
	c := list[0].uuid
	r.use(0, 0, 9)
	if _, err := h.assign(ctx, lookAgain(t, h), "cpx", c); resultOf(err) != exhausted || !strings.Contains(err.Error(), "process 9") {
		t.Errorf("%v", err)
	}
	if p, err := h.assign(ctx, opened(t, h), "spx", c); err != nil || p.uuid != c+"-spx-0" { // needs no change
		t.Errorf("%v, %v", p, err)
	}
	if err := h.remove(ctx, opened(t, h), "spx", c); err != nil {
		t.Error(err)
	}
	r.use(0, 0, 0)
	r.setErr = smi.ErrNoPermission
	if _, err := h.assign(ctx, lookAgain(t, h), "cpx", c); resultOf(err) != notSupported {
		t.Errorf("%v", err)
	}
	list, err = h.devices(ctx, opened(t, h))
	if err != nil || list[0].capabilities.partitioning || list[0].capabilities.maxPartitions != 1 || !list[1].capabilities.partitioning {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := h.assign(ctx, opened(t, h), "tpx", c); resultOf(err) != notSupported {
		t.Errorf("a mode that the card has not: %v", err)
	}
	if _, err := h.assign(ctx, opened(t, h), "mig", c); resultOf(err) != notFound {
		t.Errorf("%v", err)
	}
	if _, err := h.assign(ctx, opened(t, h), "cpx", "nobody"); resultOf(err) != notFound {
		t.Errorf("%v", err)
	}
}
