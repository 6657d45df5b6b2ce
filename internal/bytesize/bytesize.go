// Package bytesize reads numbers of bytes as people write them in flags.
package bytesize

import (
	"strconv"
	"strings"
)

// Parse reads a whole number above 0, maybe with K, M or G (powers of 1024) behind it;
// false if s is none, or more than limit.
func Parse(s string, limit int64) (int64, bool) {
	digits, shift := s, 0
	for i, unit := range []string{"K", "M", "G"} {
		if d, ok := strings.CutSuffix(s, unit); ok {
			digits, shift = d, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > limit>>shift {
		return 0, false
	}
	return n << shift, true
}
