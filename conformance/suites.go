package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// libraryArches are the cards that -arch chooses from: Debian's libraries have code for them, and none for gfx942. The first is usual.
var libraryArches = []string{"gfx90a", "gfx1100"}

// rtc are hipRTC and the compiler behind it, and blas the CPU's, which results are compared with.
var (
	rtc = []string{"libhiprtc6", "libhiprtc-builtins6", "libamd-comgr3", "libllvm21", "libedit2", "libxml2-16", "libz3-4", "libtinfo6", "libbsd0",
		"libmd0", "liblzma5", "libffi8", "libzstd1", "zlib1g", "libclang-common-21-dev", "libnuma1"}
	blas = []string{"libopenblas0-pthread", "libgfortran5", "libquadmath0", "libgomp1"}
	// rocblas is the library that many others call.
	rocblas = []string{"librocblas4", "libroctx64-4"}
)

// true16 is what is wrong with some of Debian's code for gfx1100.
const true16 = "[clang's use of the halves of registers](simulated-gpu.md#code-of-clang-21-for-gfx1100)"

// noMatrices is what the solvers' tests want and Debian has not.
const noMatrices = "Cases of `CSRRF_*` read matrices from files (`mat_20_60` and so on), which Debian does not have: these fail, or skip themselves where rocSPARSE is not there. "

const openblas = "usr/lib/x86_64-linux-gnu/openblas-pthread"

// rocFFT keeps what it compiled in a file, which is not to be the user's. When it compiles several kernels at once, it starts a program for each.
var rocfftEnv = []string{"ROCFFT_RTC_CACHE_PATH={tree}/.lists/rocfft.db"}

// miopen is the library with what it needs.
var miopen = together([]string{"libmiopen1", "libboost-atomic1.90.0", "libboost-filesystem1.90.0", "libbz2-1.0", "libsqlite3-0"}, miopenCompiler, rocblas, rtc)

func together(lists ...[]string) []string { return slices.Concat(lists...) }

// suites are all, smallest first.
var suites = []suite{
	{
		name: "rocrand", title: "rocRAND", of: "librocrand1", packages: []string{"librocrand1-tests"}, limit: time.Hour,
		note:     "Only tests are counted that fail on a GPU which executes nothing.",
		programs: rocrandPrograms,
	},
	{
		name: "hiprand", title: "hipRAND", of: "libhiprand1", packages: []string{"libhiprand1-tests", "librocrand1"}, limit: 10 * time.Minute,
		programs: folder("usr/libexec/rocm/libhiprand1-tests"),
	},
	{
		name: "rocblas", title: "rocBLAS", of: "librocblas4", packages: together([]string{"librocblas4-tests", "librocblas4-tests-data", "librocm-smi64-1"}, rocblas, blas),
		libs: []string{openblas}, limit: 2 * time.Minute, sample: 100,
		env:      []string{"GTEST_LISTENER=PASS_LINE_IN_LOG"}, // or it is silent about what passes
		programs: one("rocblas-test", &gtest{path: "usr/libexec/rocm/librocblas4-tests/rocblas-test", args: []string{"--data", "{tree}/usr/share/librocblas4-tests/data/rocblas_gtest.data"}}, "quick_", "pre_checkin_"),
	},
	{
		name: "rocfft", title: "rocFFT", of: "librocfft0", packages: together([]string{"librocfft0-tests", "libfftw3-double3", "libfftw3-single3", "libsqlite3-0", "libgomp1"}, rtc),
		root: true, env: rocfftEnv, limit: 2 * time.Minute, sample: 100,
		programs: one("rocfft-test", &gtest{path: "usr/libexec/rocm/librocfft0-tests/rocfft-test", args: []string{"--seed", "1"}}),
	},
	{
		name: "hipfft", title: "hipFFT", of: "libhipfft0", packages: together([]string{"libhipfft0-tests", "librocfft0", "libfftw3-double3", "libfftw3-single3", "libsqlite3-0", "libgomp1"}, rtc),
		root: true, env: rocfftEnv, limit: 2 * time.Minute, sample: 100,
		programs: one("hipfft-test", &gtest{path: "usr/libexec/rocm/libhipfft0-tests/hipfft-test", args: []string{"--seed", "1"}}),
	},
	{
		name: "rocprim", title: "rocPRIM", of: "librocprim-tests", limit: 2 * time.Minute, sample: 5,
		note: "The `LargeIndices` cases go through up to 2³⁷ elements, and `RocprimAtomicTests` are 10⁹ loads and stores of 16 bytes for each of several seeds: hours here. `RocprimLookbackReproducibilityTests` let each use of their operator sleep, up to 63 times `s_sleep 63`, while the workgroups behind wait for it: a minute of a float's `ScanByKey`, on a machine with much other work, was 30,000 of these. `test_no_half_operators` has no cases, it only has to compile. " +
			"On gfx1100 differences of `hip_bfloat16` are 0 by " + true16 + ": 128 of the 316 `v_sub_f32` of `test_device_adjacent_difference` subtract a register from itself. `RocprimBlockDiscontinuityFloatingHalf/17.FlagHeads` and `/28`, whose heads are wrong, pass when they are compiled without that, too.",
		programs: folder("usr/libexec/rocm/librocprim-tests"),
	},
	{
		name: "hipcub", title: "hipCUB", of: "libhipcub-tests", limit: 2 * time.Minute, sample: 5,
		note: "`LargeIndices` cases are as rocPRIM's. " +
			"On gfx1100 `HipcubBlockHistogramInputArrayTests/23` and `/26` and `HipcubDevicePartitionTests/0` to `/4` fail by " + true16 + "; so does `/6`, by its trace.",
		programs: folder("usr/libexec/rocm/libhipcub-tests"),
	},
	{
		name: "rocthrust", title: "rocThrust", of: "librocthrust-tests", limit: 2 * time.Minute, sample: 2,
		note: "Made with Thrust's own framework: a process for each case. `BigIndexes` cases go through up to 2³³ elements. `test_thrust_functional_placeholders_miscellaneous` has no cases. " +
			"On gfx1100 `TestZipIteratorStableSortByKey` fails by " + true16 + ": to exchange the two bytes of a register's high half, the kernel has `v_perm_b32 v5, 0, v1, 0xc0c0001`, which takes those of the low half. So four values that a lane keeps in a register become the first two, twice.",
		programs: thrustPrograms,
	},
	{
		name: "rocsparse", title: "rocSPARSE", of: "librocsparse1", packages: []string{"librocsparse1-tests", "librocsparse1-tests-data"}, limit: 2 * time.Minute, sample: 100,
		programs: one("rocsparse-test", &gtest{path: "usr/libexec/rocm/librocsparse1-tests/rocsparse-test", args: []string{"--data", "{tree}/usr/share/librocsparse1-tests/data/rocsparse_test.data"}}),
	},
	{
		name: "hipsparse", title: "hipSPARSE", of: "libhipsparse1", packages: []string{"libhipsparse1-tests", "librocsparse1", "libgomp1"}, limit: 2 * time.Minute, sample: 100,
		programs: folder("usr/libexec/rocm/libhipsparse1-tests"),
	},
	{
		name: "rocsolver", title: "rocSOLVER", of: "librocsolver0", packages: together([]string{"librocsolver0-tests", "libfmt11"}, rocblas, blas),
		libs: []string{openblas}, limit: 2 * time.Minute, sample: 100,
		note: noMatrices + "`POTF2` and `POTRF` have a race of rocSOLVER's own, in `potf2_kernel_small`: all waves read a diagonal element and the first one writes its root there, with no barrier between. " +
			"They pass as on a card, where all waves have read before the first one writes: [here they give way to each other](simulated-gpu.md#what-it-does-as-a-card-does), too. " +
			"[`--sim-check=race`](simulator-check.md) names both instructions.",
		programs: one("rocsolver-test", &gtest{path: "usr/libexec/rocm/librocsolver0-tests/rocsolver-test"}, "checkin_"),
	},
	{
		name: "hipsolver", title: "hipSOLVER", of: "libhipsolver0", packages: together([]string{"libhipsolver0-tests", "librocsolver0", "libfmt11", "libhipsparse1", "librocsparse1"}, rocblas, blas),
		libs: []string{openblas}, limit: 2 * time.Minute, sample: 100,
		note: noMatrices + "rocSOLVER's `syevj_small_kernel` has a race: all waves sum `cosines_res` to say whether another sweep is needed, and the first one writes its cosines there, with no barrier between. " +
			"[`--sim-check=race`](simulator-check.md) names both instructions. `HEEVJ.strided_batched__double_complex/13` failed by it before waves gave way to each other when they wait for what they load.",
		programs: folder("usr/libexec/rocm/libhipsolver0-tests"),
	},
	{
		name: "ggml", title: "ggml", of: "libggml0-backend-hip", packages: together([]string{"llama.cpp-tests", "libllama0", "libggml0", "libhipblas2", "libgomp1"}, rocblas),
		limit: 2 * time.Minute, sample: 3,
		note:     "`test-backend-ops` compares each operation of ggml's HIP backend with its backend for CPUs. *Skip themselves* is what the HIP backend does not support.",
		programs: ggmlPrograms,
	},
	{
		name: "hashcat", title: "hashcat", of: "hashcat", packages: together([]string{"hashcat-data", "libminizip1t64", "libxxhash0"}, rtc),
		root: true, links: hashcatLink, libs: []string{"/hiprtc"}, env: []string{"HOME={tree}/.lists/hashcat", "XDG_DATA_HOME={tree}/.lists/hashcat", "XDG_CACHE_HOME={tree}/.lists/hashcat"}, limit: 5 * time.Minute, sample: 20,
		note: "A case is a kind of hashes, and how hashcat guesses: it compiles its kernels with hipRTC, tries them with a hash that it has in them, and has to find the password of the example that it has of that kind, and no other, " +
			"among 64 words (`-a 0`) or 676 of a mask (`-a 3`), with kernels for short passwords (`-O`) or any. What it computes by libraries for the CPU, by Python or Rust is not counted.",
		programs: hashcatPrograms,
	},
	{
		name: "starpu", title: "StarPU", of: "libstarpu-1.4-9", packages: starpuPackages, limit: 2 * time.Minute,
		env: []string{"STARPU_HOME={tree}/.lists", "STARPU_NHIP=1", "STARPU_NOPENCL=0", "STARPU_NCUDA=0", "STARPU_WORKERS_NOBIND=1"},
		note: "Examples with kernels for HIP: StarPU hands out tasks, copies what they work on with streams of its own, and each program compares the result with what it should be. There is no worker for the CPU but where a program has tasks " +
			"that are for none else, so all others are done by the card.",
		programs: starpuPrograms,
	},
	{
		name: "migraphx", title: "MIGraphX", of: "migraphx", packages: together([]string{"migraphx-tools", "migraphx-tests", "libprotobuf32t64", "libhipblaslt1"}, miopen),
		root: true, links: miopenLinks, libs: []string{"usr/lib/x86_64-linux-gnu/migraphx/lib"}, env: miopenEnv, limit: 10 * time.Minute, sample: 4,
		note: "`migraphx-driver verify` compares small models in ONNX's format, which are made here, in several precisions, with MIGraphX's reference implementation; so does `test_verify` with operations. They compile many kernels for each. " +
			"Convolutions are left to MIOpen. `test_group_query_attention_decode` is ended by MIGraphX, which says that it cannot compute `group`: it has fused that for rocMLIR, which Debian builds it without (its `mlir_enabled()` is `return false`, its `compile_mlir()` makes nothing), so it does that on every machine.",
		programs: migraphxPrograms,
	},
	{
		name: "miopen", title: "MIOpen", of: "libmiopen1", packages: together([]string{"libmiopen1-tests", "librocrand1"}, miopen),
		root: true, links: miopenLinks, env: miopenEnv, limit: 5 * time.Minute, sample: 20,
		note: "`MIOpenDriver` compares layers with the CPU. It and the tests compile kernels as they run, by the clang of Debian's packages. Two faults of Debian's MIOpen, which it has on every machine, are mended by " +
			"links in the root that these programs have: it looks for the compiler where that was when MIOpen was built, and tells it to look for the C library's headers before those of C++, which do not find them then. " +
			"It is without kernels in assembly language and without composable_kernel: the library has the names of the first but not their text, and no code for cards. Tests that fail for want of these are not counted, those that pass without having found " +
			"a kernel skip themselves. One test of each suite that is left out was run: that it is for want of these is what MIOpen says of `ConvBinWinogradRxSf2x3g1Find2Fused`; of assembly solvers, half-precision `Mha`, `ResAddActivation` and `KernelTuningNet` it is concluded from there being no solution. Nor are `*_XDLOPS` of `implicit_gemm_hip`: for `llvm.amdgcn.buffer.load.v2f32`, which LLVM 21 does not have any more, the linker says `undefined hidden symbol` of the forward V4R4 one; the others are concluded to be like that. " +
			"`bnorm` per activation is not counted backward, nor with `-F 2` without `-r 1`: in half and in single precision the driver's own comparison then reads tensors that it makes only for other directions, and it crashes; with `-V 0` it does not. " +
			"`lrnfp16` backward is compared with numbers of double precision, to 6·10⁻⁵ of the largest. Looked at were `-n 1 -c 16 -H 16 -W 16 -m cross -N 5` and `-n 2 -c 8 -H 12 -W 10 -m within -N 3`: " +
			"the true results, rounded once to half precision, are 8.4·10⁻⁵ and 6.9·10⁻⁵ off, more than it allows. Ours are to the last bit of all 4,096 and 1,920 what the kernel's text gives when each operation, a multiply-add being one, is rounded to the nearest half. " +
			"`softmaxfp16` backward multiplies and adds halves of which few are more than ten times the smallest there is, 2⁻²⁴, as a trace of its kernel shows: that is 0.09 of the largest off.",
		programs: miopenPrograms,
	},
	{
		name: "hipblaslt", title: "hipBLASLt", of: "libhipblaslt1", packages: []string{"libhipblaslt1-bench", "libomp5", "librocm-smi64-1"}, limit: 2 * time.Minute, sample: 60,
		note:     "Debian has the library's test program, but not the package with its data. So these are runs of `hipblaslt-bench --verify` on matrices of small whole numbers, whose products have to be exact. On gfx1100 the library's 16 kernels for single precision (`TensileLibrary_SS_SS_*`) are for waves of 64 lanes.",
		programs: one("hipblaslt-bench", hipblasltBench),
	},
	{
		name: "magma", title: "MAGMA", of: "libmagma2-rocm", packages: together([]string{"libmagma-rocm-test", "libhipblas2", "libhipsparse1", "librocsparse1", "librocsolver0", "libfmt11"}, rocblas, blas),
		cards: 2, libs: []string{openblas}, limit: 2 * time.Minute, sample: 60,
		note: "A case is a tester with the options that MAGMA's `run_tests.py` gives it, for matrices of 31, 64 and 100 rows. Not counted is `testing_[sdcz]trsm_batched`: it clears a workspace that it has only with `--version 2`, so it sets memory at a null pointer, which fails on every machine. " +
			"`zpotf2_smlpin_anywidth_kernel` and its like have a race: each wave stores a panel and loads from the rows of others, with no barrier between. They pass as on a card, [where all waves have stored when one has waited for another load](simulated-gpu.md#what-it-does-as-a-card-does).",
		programs: one("testers", magma),
	},
	{
		name: "rccl", title: "RCCL", of: "librccl1", packages: []string{"librccl1-tests", "librocm-smi64-1", "libhsa-runtime64-1", "libdrm-amdgpu1", "libdrm2", "libelf1t64", "libnuma1", "libzstd1", "zlib1g"},
		cards: 4, libs: []string{hip5}, limit: 10 * time.Minute,
		// The program asks HSA how many cards there are, before it starts processes of its own.
		env: []string{"UT_MIN_GPUS=4", "UT_MAX_GPUS=4", "UT_PROCESS_MASK=3", "UT_TIMEOUT_US=600000000"},
		note: "On four cards, with all ranks in one process and with a process for each, whose memory RCCL shares by HIP's IPC. Where a case has `ncclFloat32` or `ncclInt8` and sums, it is these alone; the others are of all their types and operations. Debian's RCCL is of HIP 5. It asks for `libamdhip64.so.5`, which the runner " +
			"makes: ours, with HIP 5's values for the flag of `hipIpcOpenMemHandle` and the types of memory that `hipPointerGetAttributes` tells. Those are all that differ in what RCCL and its tests use.",
		programs: rcclPrograms,
	},
}

// folder has all programs of a folder, each made with GoogleTest.
func folder(dir string) func(o *options) ([]program, error) {
	return func(o *options) ([]program, error) {
		files, err := os.ReadDir(filepath.Join(o.tree, dir))
		if err != nil {
			return nil, err
		}
		var names []string
		for _, f := range files {
			if f.Name() != "run-tests" { // starts the others
				names = append(names, f.Name())
			}
		}
		return gtests(dir, names...), nil
	}
}

// one is a suite of one program, of whose cases those count of which a part between slashes begins so.
func one(name string, t tester, begin ...string) func(o *options) ([]program, error) {
	of := func(c string) bool {
		return len(begin) == 0 || slices.ContainsFunc(begin, func(b string) bool { return strings.Contains("/"+c, "/"+b) })
	}
	return func(o *options) ([]program, error) { return []program{{name: name, test: t, of: of}}, nil }
}
