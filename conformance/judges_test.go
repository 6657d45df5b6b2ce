package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

func TestGGMLCases(t *testing.T) {
	table := "\"backend_name\",\"op_name\",\"op_params\",\"test_mode\"\n\"CPU\",\"ABS\",\"type=f16,ne_a=[5,7],v=0\",\"support\"\n" +
		"\"CPU\",\"ADD\",\"type=f32\",\"support\"\n\"CPU\",\"ABS\",\"type=f16,ne_a=[5,7],v=0\",\"support\"\n\"CPU\",\"ABS\",\"type=f32,v=0\",\"support\"\n"
	ops, cases, err := ggmlCases(table)
	if err != nil || !slices.Equal(ops, []string{"ABS", "ADD"}) || !slices.Equal(cases["ABS"], []string{"ABS(type=f16,ne_a=[5,7],v=0)", "ABS(type=f32,v=0)"}) {
		t.Errorf("%q, %q, %v", ops, cases, err)
	}
	for _, none := range []string{"", "\"backend_name\",\"op_name\",\"op_params\"\n", "no table\nat all\n"} {
		if _, _, err := ggmlCases(none); err == nil {
			t.Errorf("%q is a table", none)
		}
	}
}

func TestGGMLLines(t *testing.T) {
	for line, want := range map[string]caseEnd{
		"  ABS(type=f16,ne_a=[5,7],v=0): \x1b[1;32mOK\x1b[0m":                          {name: "ABS(type=f16,ne_a=[5,7],v=0)", verdict: results.Passed},
		"  TRI(type=f32,ne=[1,2]): not supported [ROCm0] ":                             {name: "TRI(type=f32,ne=[1,2])", verdict: results.Skipped, why: "not supported [ROCm0]"},
		"[MUL] NMSE = 0.5 > 0.0000001   MUL(type=f32,nr=[1,1]): \x1b[1;31mFAIL\x1b[0m": {name: "MUL(type=f32,nr=[1,1])", verdict: results.Failed, why: "[MUL] NMSE = 0.5 > 0.0000001"},
		"  1/2 backends passed": {},
	} {
		if what, got := readGGML(line, nil); got != want || (what == ends) != (want.name != "") {
			t.Errorf("%q: %v, %+v", line, what, got)
		}
	}
}

func TestMAGMACases(t *testing.T) {
	got := magmaCases("****\ntesting_sgemm -l -NN -c -n 1\n****\n\ntesting_sgemm -l -NN -c -n 1\ntesting_sgels -n 10 -c -n 1\ntesting_zhegvdx -c -n 100,5\n" +
		"testing_zherk -L -c -n 1:20:1 -n  30 -n 3,2,1\ntesting_ztrsm_batched -L -c -n 1\ntesting_ztrsm -L -c -n 1\nsummary\n")
	want := []string{"testing_sgemm -l -NN -c -n 31 -n 64 -n 100", "testing_sgels -n 10 -c -n 31 -n 64 -n 100", "testing_zhegvdx -c -n 100,5",
		"testing_zherk -L -c -n 31 -n 64 -n 100", "testing_ztrsm -L -c -n 31 -n 64 -n 100"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestThrustNames(t *testing.T) {
	if got := thrustNames("HIP device: 0\nTestA\nTestB<int>\n\n"); !slices.Equal(got, []string{"TestA", "TestB<int>"}) {
		t.Errorf("%q", got)
	}
}

func TestJudges(t *testing.T) {
	ended := errors.New("exit status 1")
	for _, c := range []struct {
		judge func(string, error) (results.Verdict, string)
		out   string
		err   error
		want  results.Verdict
	}{
		{judgeMAGMA, "% MAGMA 2.9.0\n  25  0.1 9.2e-08   ok\n  32  0.1 9.2e-08   ok\n", nil, results.Passed},
		{judgeMAGMA, "  25  0.1 9.2e-08   ok\n  32  0.1 6.8e+01   failed\n", nil, results.Failed},
		{judgeMAGMA, "  25  0.1 9.2e-08   ok\n", ended, results.Failed},
		{judgeMAGMA, "  25  0.1 9.2e-08   ok\nCUDA runtime error: out of memory\n", nil, results.Failed},
		{judgeMAGMA, "  25  0.1  ---\n", nil, results.Skipped},
		{judgeThrust, "Running TestA...[PASS]  7 ms TestA\n\n====\nTotals: 0 failures, 0 known failures, 0 errors, and 1 passes.\n", nil, results.Passed},
		{judgeThrust, "Totals: 0 failures, 1 known failures, 0 errors, and 0 passes.\n", nil, results.Skipped},
		{judgeThrust, "Totals: 0 failures, 0 known failures, 1 errors, and 0 passes.\n", nil, results.Failed},
		{judgeThrust, "Totals: 1 failures, 0 known failures, 0 errors, and 1 passes.\n", nil, results.Failed},
		{judgeThrust, "Totals: 0 failures, 0 known failures, 0 errors, and 1 passes.\n", ended, results.Failed},
		{judgeThrust, "Running TestA...", nil, results.Failed},
		{judgeHipBLASLt, "transA,m,norm_error\n    N,3,0\n", nil, results.Passed},
		{judgeHipBLASLt, "transA,m,norm_error\n    N,3,1e-9\n", nil, results.Failed},
		{judgeHipBLASLt, "transA,m,norm_error\n    N,3,nan\n", nil, results.Failed},
		{judgeHipBLASLt, "transA,m,norm_error\n    N,3,0\n", ended, results.Failed},
		{judgeMIOpenDriver, "MIOpen(HIP): Error [ValidateGcnAssemblerImpl] " + noAssembler + ".\nForward Convolution Verifies OK on CPU reference (0 < 1.5e-06)\n", nil, results.Passed},
		{judgeMIOpenDriver, "Forward batch norm verification passed on output (3.5e-08)\nForward Batch Norm Verifies on CPU and GPU.\n", nil, results.Passed},
		{judgeMIOpenDriver, "Forward Convolution Verifies OK on CPU reference (0 < 1.5e-06)\nBackward Convolution Data FAILED: 0.4 > 1.5e-06\n", nil, results.Failed},
		{judgeMIOpenDriver, "Forward Convolution Verifies OK on CPU reference (0 < 1.5e-06)\n", ended, results.Failed},
		{judgeMIOpenDriver, "PRNG seed: 12345678\n", nil, results.Failed},
		{judgeDriver, "MIGraphX verification passed successfully.\n", nil, results.Passed},
		{judgeDriver, "MIGraphX verification passed successfully.\n", errors.New("killed"), results.Failed},
		{judgeDriver, "FAILED: x.onnx\n", nil, results.Failed},
		{judgeVerify, "[   RUN    ] test_abs<float>\n[ COMPLETE ] test_abs<float> (3394.18ms)\n[==========] 1 tests ran\n", nil, results.Passed},
		{judgeVerify, "[   RUN    ] test_abs<float>\n[ COMPLETE ] test_abs<float> (3394.18ms)\n[==========] 1 tests ran\n", ended, results.Failed},
		{judgeVerify, "[   RUN    ] test_abs<float>\n[  FAILED  ] test_abs<float>\n[==========] 1 tests ran\n[  FAILED  ] 1 tests failed\n", nil, results.Failed},
		{judgeVerify, "[==========] 0 tests ran\n", nil, results.Failed},
		{judgeStarPU, "", nil, results.Passed},
		{judgeStarPU, "codelet failed (err: ENODEV)\n", exec.Command("sh", "-c", "exit 77").Run(), results.Skipped},
		{judgeStarPU, "", exec.Command("false").Run(), results.Failed},
		{judgeStarPU, "", errors.New("killed"), results.Failed},
		{judgeRCCL, "[ RUN      ] AllReduce.InPlace\n[       OK ] AllReduce.InPlace (9 ms)\n[ INFO     ] Total executed cases: 12\n", nil, results.Passed},
		{judgeRCCL, "[       OK ] AllReduce.InPlace (9 ms)\n[ INFO     ] Total executed cases: 0\n", nil, results.Skipped},
		{judgeRCCL, "[  FAILED  ] AllReduce.InPlace\n[ INFO     ] Total executed cases: 3\n", nil, results.Failed},
		{judgeRCCL, "[       OK ] AllReduce.InPlace (9 ms)\n[ INFO     ] Total executed cases: 3\n", errors.New("killed"), results.Failed},
	} {
		if got, why := c.judge(c.out, c.err); got != c.want || (got == results.Failed) != (why != "") && got != results.Skipped {
			t.Errorf("%q, %v: %s (%s), want %s", c.out, c.err, got, why, c.want)
		}
	}
}

// TestEach runs a case that is right, one that is not, and one that never ends.
func TestEach(t *testing.T) {
	h := &host{o: &options{}, limit: time.Hour}
	e := &each{
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", name)
		},
		judge: func(out string, err error) (results.Verdict, string) {
			if err != nil {
				return results.Failed, out
			}
			return results.Passed, out
		},
	}
	var got []caseEnd
	report := func(o caseEnd) { o.took = 0; got = append(got, o) }
	e.run(t.Context(), h, []string{"echo a", "echo b; exit 1"}, report)
	h.limit = 50 * time.Millisecond
	e.run(t.Context(), h, []string{"exec sleep 100"}, report)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.run(ctx, h, []string{"true"}, report)
	want := []caseEnd{{name: "echo a", verdict: results.Passed, why: "a\n"}, {name: "echo b; exit 1", verdict: results.Failed, why: "b\n"}, {name: "exec sleep 100", verdict: results.Late}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// reporting is a program that says of all cases what it is told.
type reporting struct{ say func(name string) caseEnd }

func (r *reporting) list(context.Context, *host) ([]string, error) {
	return []string{"a", "b", "c"}, nil
}

func (r *reporting) run(ctx context.Context, _ *host, cases []string, report func(caseEnd)) {
	for _, c := range cases {
		if ctx.Err() == nil {
			report(r.say(c))
		}
	}
}

// TestWorkerGone has the worker end while the second of three cases runs: what is said from then on is of no case.
func TestWorkerGone(t *testing.T) {
	o := &options{match: regexp.MustCompile(""), sample: 0, tree: t.TempDir(), results: results.Open(filepath.Join(t.TempDir(), "runs.jsonl"))}
	w := &worker{ended: make(chan struct{})}
	say := func(name string) caseEnd {
		if name == "b" {
			close(w.ended)
			return caseEnd{name: name, verdict: results.Failed}
		}
		return caseEnd{name: name, verdict: results.Passed, why: "no " + o.tree + "/usr, no " + os.TempDir() + "/x"}
	}
	r := suiteRun{s: &suite{title: "x"}, p: &program{name: "p", test: &reporting{say}}, h: &host{o: o, w: w}}
	n, err := r.run(t.Context())
	if !errors.Is(err, errWorker) || n[results.Passed] != 1 || n[results.Failed] != 0 {
		t.Errorf("%v, %v", n, err)
	}
	if all, err := o.results.Read(); err != nil || len(all) != 2 || all[1].Name != "a" || all[1].Why != "no {tree}/usr, no {tmp}/x" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestMIOpenFamilies(t *testing.T) {
	for test, want := range map[string]string{
		"Smoke/GPU_ConvGroup_FP32.X/0": "convolution", "Smoke/GPU_GroupConv2D_Forward_FP16.Test/3": "convolution", "GPU_FusionPlan_FP16.GoodFusionPlan": "", "GPU_FusionPlan_FP16.BadOrderFusionPlan": "activation, reduction, loss, optimizers",
		"GPU_ConvBiasResAddActivation_fwd_FP16.TestExceptions": "convolution", "Smoke/GPU_ConvBiasResAddActivation_fwd_FP16.Test/0": "",
		"Full/GPU_conv_extra_FP32.X/0": "convolution", "Full/GPU_BNInferSmall2D_FP64.Test/1": "normalization",
		"GPU_SoftmaxFind20_FP32.softmaxForward": "attention, softmax", "Smoke/GPU_WidePooling2d_FP16.X/0": "pooling, recurrence", "Smoke/GPU_TernaryTensorOps_FP16.Test/9": "tensor operations",
		"Smoke/GPU_Adam_FP16.Test/7": "activation, reduction, loss, optimizers", "CPU_Cache_NONE.X": "",
		"Full/GPU_UnitTestConvSolverAsmImplicitGemmGTCDynamicWrwXdlopsNHWCWrw_FP32.X/0": "", "Full/GPU_Fwd_Mha_FP16.Test_float/1": "", "Full/GPU_Fwd_Mha_FP32.Test_float/1": "attention, softmax",
	} {
		got := ""
		if i := miopenFamily(test); i >= 0 {
			got = miopenFamilies[i].name
		}
		if got != want {
			t.Errorf("%s is of %q, want %q", test, got, want)
		}
	}
}

func TestMIOpenDriverNames(t *testing.T) {
	names := miopenDriverNames()
	for _, want := range []string{"conv -F 1 -n 2 -c 8 -H 12 -W 10 -k 8 -y 3 -x 3 -p 1 -q 1", "poolfp16 -m avg -W 2x3x9x9 -y 3 -x 3"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"bnorm -n 3 -c 4 -H 7 -W 9 -m 0 -F 2", "bnormfp16 -n 3 -c 4 -H 7 -W 9 -m 0 -F 0 -b 1"} {
		if slices.Contains(names, not) || !slices.Contains(names, strings.Replace(not, "-m 0", "-m 1", 1)) {
			t.Errorf("%q is there, or not per channel", not)
		}
	}
}

// TestIdle has a case that passes though it has found nothing to compute with.
func TestIdle(t *testing.T) {
	g := gtest{idle: "No suitable algorithm"}
	const passed = "[       OK ] A.b (39 ms)"
	for _, c := range []struct {
		said []string
		want results.Verdict
	}{
		{[]string{"it computes"}, results.Passed},
		{[]string{"it computes", "FAILED: x.cpp:275: No suitable algorithm was found"}, results.Skipped},
	} {
		if what, got := g.read(passed, c.said); what != ends || got.verdict != c.want || got.name != "A.b" {
			t.Errorf("%q: %v, %+v", c.said, what, got)
		}
	}
}

// TestMadeNames has a list of a program's cases that was kept before they were others.
func TestMadeNames(t *testing.T) {
	names := []string{"old"}
	o := &options{tree: t.TempDir()}
	for _, c := range []struct {
		made bool
		want string
	}{{false, "old"}, {true, "new"}} {
		names = []string{"old"}
		r := suiteRun{s: &suite{name: "s"}, p: &program{name: "p", test: &each{made: c.made, names: func(context.Context, *host) ([]string, error) { return names, nil }}}, h: &host{o: o}}
		if _, err := r.cases(t.Context()); err != nil {
			t.Fatal(err)
		}
		names = []string{"new"}
		if got, err := r.cases(t.Context()); err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("made %v: %q, %v", c.made, got, err)
		}
	}
}
