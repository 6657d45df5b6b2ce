package service

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/internal/bytesize"
)

// size is a flag for a number of bytes: a whole number, maybe with K, M or G (powers of
// 1024).
type size int64

func (s *size) String() string { return strconv.FormatInt(int64(*s), 10) }

// Set implements flag.Value. A unit may be followed by iB.
func (s *size) Set(text string) error {
	short := strings.TrimSuffix(text, "iB")
	if short != text && !strings.ContainsAny(short[max(len(short)-1, 0):], "KMG") {
		return fmt.Errorf("%q is no size such as 256M", text)
	}
	n, ok := bytesize.Parse(short, 1<<50)
	if !ok {
		return fmt.Errorf("%q is no size such as 256M", text)
	}
	*s = size(n)
	return nil
}
