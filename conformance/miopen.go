package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const miopenTests = "usr/libexec/rocm/libmiopen1-tests"

// miopenCompiler is the compiler that MIOpen starts, and what that starts and reads.
var miopenCompiler = []string{"dash", "clang-21", "libclang-cpp21", "clang-tools-21", "lld-21", "llvm-21", "rocm-device-libs-21",
	"libamdhip64-dev", "librocrand-dev", "libstdc++-16-dev", "libgcc-16-dev", "libc6-dev", "linux-libc-dev"}

// miopenEnv has files for what MIOpen compiled and what it measured, which are not to be the user's, and results of convolutions compared with the CPU's, not
// with those of another kernel. The kernels that are switched off call llvm.amdgcn.buffer.load, which LLVM 21 does not have any more: Debian's MIOpen ends for
// want of them on a card, too.
var miopenEnv = []string{
	"MIOPEN_CUSTOM_CACHE_DIR={tree}/.lists/miopen/cache", "MIOPEN_USER_DB_PATH={tree}/.lists/miopen/db", "MIOPEN_DRIVER_USE_GPU_REFERENCE=0", "MIOPEN_DEBUG_CK_USE_AMD_BUFFER_ADDRESSING=0",
	"MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_FWD_V4R4_XDLOPS=0", "MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_FWD_V4R4_PADDED_GEMM_XDLOPS=0",
	"MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_FWD_V4R5_XDLOPS=0", "MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_BWD_V1R1_XDLOPS=0", "MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_BWD_V4R1_XDLOPS=0",
	"MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_WRW_V4R4_XDLOPS=0", "MIOPEN_DEBUG_CONV_IMPLICIT_GEMM_HIP_WRW_V4R4_PADDED_GEMM_XDLOPS=0",
}

// miopenLinks lead MIOpen to the compiler, which it looks for where that was when it was built. And they lead the compiler to the C library's
// headers: MIOpen gives it -isystem /usr/include, so these come before libstdc++'s, which look for them behind their own. /include is where it looks last.
func miopenLinks(o *options) (map[string]string, error) {
	version, err := debianVersion(o, "libmiopen1")
	links := map[string]string{"/build/reproducible-path/miopen-" + version + "/build/clang-21": "/usr/bin/clang-21"}
	for _, h := range []string{"math.h", "stdlib.h", "complex.h", "fenv.h", "tgmath.h"} {
		links["/include/"+h] = "/usr/include/" + h
	}
	return links, err
}

// miopenFamilies are MIOpen's tests on a card, by what they are of: a program of each, so that a sample has some of all. A test is of the first that matches.
var miopenFamilies = []struct {
	name string
	of   *regexp.Regexp
}{
	{"convolution", regexp.MustCompile(`GPU_(\w*(Conv|conv|TunaNet|regression))`)},
	{"normalization", regexp.MustCompile(`GPU_(BN|bn_|\w*Norm)`)},
	{"attention, softmax", regexp.MustCompile(`GPU_\w*(Mha|Softmax|RoPE)`)},
	{"pooling, recurrence", regexp.MustCompile(`GPU_\w*(Pooling|RNN|GRU|lstm)`)},
	{"tensor operations", regexp.MustCompile(`GPU_\w*(TensorOps|TensorGeneric|VecAdd|LayoutTranspose)`)},
	{"activation, reduction, loss, optimizers", regexp.MustCompile(`GPU_`)},
}

// miopenNot are tests that fail for want of what Debian's MIOpen is built without, on any machine: kernels in assembly language (libMIOpen.so.1 has their names, not
// their text) and those of composable_kernel (it has no code for cards in it). Others of these skip themselves.
var miopenNot = regexp.MustCompile(strings.Join([]string{
	`GPU_UnitTestConvSolverAsm`, // "not applicable", which a test of a solver does not take
	`GPU_ConvBiasActivInferFusionCompileStep_FP32\.ConvBiasActivAsm1x1U|\.ConvBinWinograd\w+Fused/`, // cannot load its source
	`GPU_(Fwd_Mha|MhaForward)_B?FP16`,                    // no solution
	`GPU_ConvBiasResAddActivation_fwd_\w+\.Test/`,        // no solution
	`GPU_FusionPlan_FP16\.(Good|BadEmpty)FusionPlan`,     // composable_kernel's fusion is said not to be applicable, whatever it is asked
	`GPU_KernelTuningNetTestConvHipIgemmGroup\w+Xdlops_`, // expects the name of a kernel of composable_kernel
}, "|"))

// miopenFamily is which of them a test is of, or -1: those that need no card, or that cannot pass.
func miopenFamily(test string) int {
	if miopenNot.MatchString(test) {
		return -1
	}
	for i, f := range miopenFamilies {
		if f.of.MatchString(test) {
			return i
		}
	}
	return -1
}

// miopenPrograms are MIOpen's tests, made with GoogleTest, and its driver.
func miopenPrograms(*options) (all []program, err error) {
	for i, f := range miopenFamilies {
		all = append(all, program{name: "miopen_gtest: " + f.name, test: &gtest{path: miopenTests + "/miopen_gtest", idle: "No suitable algorithm was found"}, of: func(c string) bool { return miopenFamily(c) == i }})
	}
	return append(all, program{name: "MIOpenDriver", test: &each{
		names: func(context.Context, *host) ([]string, error) { return miopenDriverNames(), nil },
		made:  true,
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			return h.command(ctx, miopenTests+"/MIOpenDriver", append(strings.Fields(name), "-V", "1", "-i", "1")...)
		},
		judge: judgeMIOpenDriver,
	}}), nil
}

// miopenDriverNames are layers of each kind, in the types that the driver has of it.
func miopenDriverNames() (names []string) {
	add := func(layer string, types, options []string) {
		for _, t := range types {
			for _, o := range options {
				names = append(names, layer+t+" "+o)
			}
		}
	}
	product := func(lists ...[]string) []string {
		all := []string{""}
		for _, l := range lists {
			var next []string
			for _, a := range all {
				for _, b := range l {
					next = append(next, strings.TrimSpace(a+" "+b))
				}
			}
			all = next
		}
		return all
	}
	float := []string{"", "fp16"}
	images := []string{"-n 2 -c 8 -H 12 -W 10", "-n 3 -c 4 -H 7 -W 9", "-n 1 -c 16 -H 16 -W 16"}
	ways := []string{"-F 1", "-F 2", "-F 4"} // forward, data backward, weights backward
	add("conv", []string{"", "fp16", "bfp16"}, product(ways, images,
		[]string{"-k 8 -y 3 -x 3 -p 1 -q 1", "-k 12 -y 1 -x 1", "-k 4 -y 5 -x 3 -p 2 -q 1 -u 2 -v 2", "-k 8 -y 3 -x 3 -l 2 -j 2 -p 2 -q 2", "-k 8 -y 3 -x 3 -g 4", "-k 8 -y 3 -x 3 -m trans"}))
	add("conv", float, product(ways, []string{"-_ 3 -n 1 -c 4 -! 5 -H 6 -W 7 -k 4 -@ 3 -y 3 -x 3 -$ 1 -p 1 -q 1", "-_ 3 -n 2 -c 2 -! 4 -H 4 -W 4 -k 6 -@ 1 -y 1 -x 1"}))
	add("pool", float, product([]string{"-m max", "-m avg", "-m avg_in"}, []string{"-W 2x3x9x9", "-W 1x4x16x12", "-W 2x2x5x6x7"},
		[]string{"-y 3 -x 3", "-y 2 -x 2 -u 2 -v 2", "-y 3 -x 3 -p 1 -q 1 -u 2 -v 2"}))
	norms := []string{"-F 1", "-F 1 -r 1 -s 1", "-F 2 -r 1"}
	add("bnorm", float, product(images, []string{"-m 0"}, norms)) // for others its own comparison reads tensors that it has not made
	add("bnorm", float, product(images, []string{"-m 1"}, append(norms, "-F 2", "-F 0 -b 1", "-F 0 -b 1 -s 1")))
	add("softmax", float, product(images, []string{"-a 0", "-a 1", "-a 2"}, []string{"-m 0", "-m 1"}))
	var modes []string
	for m := range 10 {
		modes = append(modes, fmt.Sprint("-m ", m))
	}
	add("activ", float, product(images, modes))
	add("lrn", float, product(images, []string{"-m within", "-m cross"}, []string{"-N 3", "-N 5"}))
	add("rnn", float, product([]string{"-m relu", "-m tanh", "-m lstm", "-m gru"}, []string{"-n 3 -W 8 -H 8 -k 4", "-n 2 -W 12 -H 6 -k 3 -l 2"}, []string{"", "-r 1", "-b 1"}))
	add("layernorm", []string{"", "fp16", "bfp16"}, product([]string{"-X 4x6x10", "-X 2x3x4x33"}, []string{"-o 1", "-o 2"}, []string{"-m 0", "-m 1"}))
	shapes := product([]string{"-D 4,6,10", "-D 3,5,7,9"}, []string{"-R 0", "-R 1,2"})
	add("reduce", float, product(shapes, []string{"-O 0", "-O 2", "-O 3", "-O 5"}))
	add("reduce", []string{""}, product(shapes, []string{"-O 1"})) // products of many are 0 in half precision, and the driver compares them with 10⁻¹⁴
	slices.Sort(names)
	return slices.Compact(names)
}

var (
	miopenRight = regexp.MustCompile(`(?i)\b(verifies|verification passed)\b`)
	miopenWrong = regexp.MustCompile(`FAILED|(?i:mismatch|not verif|incorrect|error[ :])`)
)

// noAssembler is what MIOpen says when it begins: Debian's has no sources in assembly language, and no assembler.
const noAssembler = "Path to assembler is not provided"

// judgeMIOpenDriver reads what MIOpen's driver says of each direction of a layer.
func judgeMIOpenDriver(out string, err error) (results.Verdict, string) {
	right := 0
	for line := range strings.Lines(out) {
		switch {
		case strings.Contains(line, noAssembler):
		case miopenWrong.MatchString(line):
			return results.Failed, tail(line, 300)
		case miopenRight.MatchString(line):
			right++
		}
	}
	switch {
	case err != nil:
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	case right == 0:
		return results.Failed, "it verifies nothing: " + tail(out, 300)
	}
	return results.Passed, ""
}
