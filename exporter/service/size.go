package service

import (
	"fmt"
	"strconv"
	"strings"
)

// size is a flag for a number of bytes: a whole number, maybe with K, M or G (powers of
// 1024).
type size int64

func (s *size) String() string { return strconv.FormatInt(int64(*s), 10) }

// Set implements flag.Value.
func (s *size) Set(text string) error {
	digits, shift := text, 0
	for i, unit := range []string{"K", "M", "G"} {
		if d, ok := strings.CutSuffix(strings.TrimSuffix(text, "iB"), unit); ok {
			digits, shift = d, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<50>>shift {
		return fmt.Errorf("%q is no size such as 256M", text)
	}
	*s = size(n << shift)
	return nil
}
