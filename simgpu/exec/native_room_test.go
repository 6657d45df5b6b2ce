//go:build linux && amd64

package exec

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestKernelsWithoutRoom: the project's kernels compute what they do on the CPU while blocks and machine code are dropped again and again under the waves that
// execute them.
func TestKernelsWithoutRoom(t *testing.T) {
	if !translates(t) {
		return
	}
	cpus := buildCPUs(t)
	dropped, codeDropped := 0, 0
	some := 2
	if testing.Short() {
		some = 16
	}
	for i, c := range kernels.Cases(12) {
		if i%some != 0 {
			continue
		}
		if strings.Contains(c.Object, "_O0") || strings.Contains(c.Object, "_O1") {
			continue
		}
		for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX1100} {
			want, err := cpus[arch.WaveSize()].Run(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, room := range []struct{ most, code int }{{40, fewPages}, {mostKept, fewPages}} {
				var p *Program
				got, _, err := runCaseWith(t, arch, c, 2, func(d *device) {
					p = d.withOptions(arch, Options{TranslateAfter: 16, CodeMemory: room.code})
					p.most = room.most
				}, func(*device, *Dispatch) {})
				if err == nil {
					err = c.Diff(want, got)
				}
				if err != nil {
					t.Errorf("%s, %s, %+v: %v", c.Name, arch, room, err)
				}
				dropped += p.drops
				codeDropped += p.native.drops
			}
		}
	}
	t.Logf("blocks were dropped %d times, machine code %d times", dropped, codeDropped)
	if dropped < 100 || codeDropped == 0 && !testing.Short() {
		t.Error("that is not often")
	}
}
