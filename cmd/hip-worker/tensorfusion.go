package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Variables that TensorFusion sets for a worker with hard isolation: its operator writes the memory into the pod, its agent on the node the
// percentage when it gives the pod its cards.
const (
	tfMemory    = "TF_GPU_MEMORY_LIMIT"  // MiB of each card
	tfMemoryOld = "TF_CUDA_MEMORY_LIMIT" // its earlier name, which is set besides
	tfCompute   = "TF_CUDA_SM_PERCENT_LIMIT"
)

// hardLimits is what TensorFusion holds the worker to. 0 is no limit, as it writes 0 for who has asked for none.
func hardLimits(getenv func(string) string) (q smi.Quota, err error) {
	name, v := tfMemory, getenv(tfMemory)
	if v == "" {
		name, v = tfMemoryOld, getenv(tfMemoryOld)
	}
	if v != "" {
		n, err := strconv.ParseUint(v, 10, 43)
		if err != nil {
			return q, fmt.Errorf("%s=%q is no number of MiB", name, v)
		}
		if n > 0 {
			q.Memory = smi.Some(smi.Bytes(n << 20))
		}
	}
	if v := getenv(tfCompute); v != "" {
		percent, err := quantity(v)
		if err != nil || percent < 0 || percent > 100 {
			return q, fmt.Errorf("%s=%q is no percentage", tfCompute, v)
		}
		if percent > 0 && percent < 100 {
			q.Compute = smi.Some(smi.Ratio(percent / 100))
		}
	}
	return q, nil
}

// quantity reads a number as Kubernetes writes those that are not whole: "12500m" is 12.5.
func quantity(s string) (float64, error) {
	thousandths := strings.HasSuffix(s, "m")
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "m"), 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = strconv.ErrRange
	}
	if thousandths {
		f /= 1000
	}
	return f, err
}
