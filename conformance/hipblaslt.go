package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// hipblasltBench is hipBLASLt's benchmark, which compares what it computes with the CPU: Debian has the library's tests without their data.
var hipblasltBench = &each{
	names: func(context.Context, *host) ([]string, error) { return hipblasltNames(), nil },
	made:  true,
	command: func(ctx context.Context, h *host, name string) *exec.Cmd {
		return h.command(ctx, "usr/libexec/rocm/libhipblaslt1-bench/hipblaslt-bench",
			append(strings.Fields("--verify --iters 1 --cold_iters 0 --initialization rand_int"), strings.Fields(name)...)...)
	},
	judge: judgeHipBLASLt,
}

// hipblasltNames are products of each type and layout at several sizes, and what may be done with a product.
func hipblasltNames() (names []string) {
	types := []string{
		"--precision f32_r", "--precision f16_r", "--precision bf16_r", "--precision f64_r --compute_type f64_r", "--precision f32_r --compute_type xf32_r",
		"--a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type i32_r", "--a_type f16_r --b_type f16_r --c_type f32_r --d_type f32_r",
		"--a_type bf16_r --b_type bf16_r --c_type f32_r --d_type f32_r",
	}
	for _, t := range types {
		for _, layout := range []string{"N N", "N T", "T N", "T T"} {
			a, b, _ := strings.Cut(layout, " ")
			for _, size := range []string{"1 1 1", "16 16 16", "64 64 64", "128 128 128", "33 70 19", "200 5 64", "7 300 128", "256 128 512"} {
				s := strings.Fields(size)
				names = append(names, fmt.Sprintf("%s --transA %s --transB %s -m %s -n %s -k %s", t, a, b, s[0], s[1], s[2]))
			}
		}
		const middle = " -m 96 -n 80 -k 64"
		for _, more := range []string{
			" --alpha 2 --beta 3", " --beta 1 --c_equal_d", " --batch_count 3", " --bias_vector", " --activation_type relu", " --bias_vector --activation_type relu",
			" --scaleAlpha_vector", " --grouped_gemm --batch_count 2", " --api_method cpp", " --api_method mix", " --algo_method all",
		} {
			names = append(names, t+middle+more)
		}
	}
	return names
}

// judgeHipBLASLt wants no difference at all: the matrices have small whole numbers, whose products and sums are exact.
func judgeHipBLASLt(out string, err error) (results.Verdict, string) {
	switch {
	case strings.Contains(strings.ToLower(out), "no solution found"):
		return results.Skipped, "the library has no kernel for it"
	case err != nil:
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	}
	n := 0
	var column []string
	for line := range strings.Lines(out) {
		row, err := csv.NewReader(strings.NewReader(strings.TrimSpace(line))).Read()
		if err != nil {
			continue
		}
		if slices.Contains(row, "norm_error") {
			column = row
			continue
		}
		i := slices.Index(column, "norm_error")
		if i < 0 || len(row) != len(column) {
			continue
		}
		norm, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 64)
		if err != nil || norm != 0 {
			return results.Failed, "norm_error is " + row[i]
		}
		n++
	}
	if n == 0 {
		return results.Failed, "it says no norm_error: " + tail(out, 300)
	}
	return results.Passed, ""
}
