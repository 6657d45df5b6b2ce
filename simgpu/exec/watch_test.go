package exec

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestChecksFindNothing runs the project's kernels, none of which does anything
// wrong, with all checks: nothing is found, and the results are those without.
// Here it is the smallest launch of some; go test -tags conformance runs all.
func TestChecksFindNothing(t *testing.T) {
	some := map[string]bool{"reduce": true, "lanes": true, "calls_O0": true, "dynamic_lds": true}
	for _, c := range kernels.Cases(11) {
		if name := c.Object + "/" + c.Kernel; !everyCase {
			if first := strings.HasPrefix(c.Name, c.Object) && some[c.Object] && !some[name]; !first {
				continue
			}
			some[name] = true
		}
		t.Run(c.Name, func(t *testing.T) {
			targets := append(slices.Clone(arches), gcn.GFX1100)
			if !strings.Contains(c.Object, "_O") {
				targets = append(targets, gcn.GFX1100.Wave64())
			}
			for _, arch := range targets {
				want, _, err := runCase(t, arch, c, 1)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := runCaseWith(t, arch, c, 1, func(d *device) { d.prog.Watch(AllChecks, false) }, func(d *device, x *Dispatch) {
					x.Allocated = d.allocated
					x.OnFinding = func(f *Finding) error {
						if f.Check != CheckAlign || c.Kernel != "unaligned" { // by memcpy, which compilers may
							t.Errorf("%s: %v", arch, f)
						}
						return nil
					}
				})
				if err != nil {
					t.Fatalf("%s: %v", arch, err)
				}
				if err := c.Diff(want, got); err != nil {
					t.Errorf("%s: the results are not those without checks: %v", arch, err)
				}
			}
		})
	}
}

// TestTrace: of one wave each instruction is told, what it changed, and where it
// accessed memory.
func TestTrace(t *testing.T) {
	for _, arch := range arches {
		var steps []Step
		cases := kernels.CasesOf("vector_add", 1)
		_, stats, err := runCaseWith(t, arch, cases[len(cases)-1], 2, func(d *device) { d.prog.Watch(0, true) }, func(_ *device, x *Dispatch) {
			x.Traced = func(g [3]uint32, wave int) bool { return g == [3]uint32{} && wave == 0 }
			x.OnTrace = func(s *Step) { steps = append(steps, *s) }
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) < 8 || uint64(len(steps)) > stats.Instructions[SALU]+stats.Instructions[VALU]+stats.Instructions[VMEM]+stats.Instructions[SMEM]+stats.Instructions[Branch] {
			t.Fatalf("%s: %d instructions are told of", arch, len(steps))
		}
		if s := steps[len(steps)-1]; s.Inst != "s_endpgm" {
			t.Errorf("%s: the last is %q", arch, s.Inst)
		}
		loads := 0
		for _, s := range steps {
			if strings.HasPrefix(s.Inst, "global_load_dword") {
				loads++
				if len(s.Addresses) == 0 || len(s.Changed) == 0 || !strings.HasPrefix(s.Changed[0].Register, "v") {
					t.Errorf("%s: a load tells %+v", arch, s)
				}
			}
		}
		if loads == 0 {
			t.Errorf("%s: there is no load among %d instructions", arch, len(steps))
		}
	}
}
