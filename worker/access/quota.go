package access

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// ParseQuota reads memory, such as 16G, and compute, a percentage. Empty is no limit.
func ParseQuota(memory, compute string) (q smi.Quota, err error) {
	n, err := ParseSize(memory)
	if err != nil {
		return q, fmt.Errorf("memory %q: %w", printed(memory), err)
	}
	if n > 0 {
		q.Memory = smi.Some(smi.Bytes(n))
	}
	if compute != "" {
		f, err := strconv.ParseFloat(strings.TrimSuffix(compute, "%"), 64)
		if err != nil || !(f > 0 && f <= 100) {
			return q, fmt.Errorf("compute %q is no percentage", printed(compute))
		}
		q.Compute = smi.Some(smi.Ratio(f / 100))
	}
	return q, nil
}

// ParseSize reads a number of bytes with an optional K, M, G or T (powers of 1024), maybe followed by iB or B. Empty is 0.
func ParseSize(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	digits, shift := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I"), 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if d, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = d, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(n > 0) || n*float64(uint64(1)<<shift) > math.MaxInt64 {
		return 0, errors.New("no size")
	}
	return uint64(n * float64(uint64(1)<<shift)), nil
}
