package outbound

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// Secret is a password or token. However it is printed or logged, it is not shown.
type Secret string

const hidden = "(not shown)"

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the secret.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Reveal is the secret itself.
func (s Secret) Reveal() string { return string(s) }

const maxSecret = 64 << 10

// ReadSecret reads a file that holds one secret. Space around it, such as the end of the
// line, is not part of it.
func ReadSecret(path string) (Secret, error) {
	b, err := ReadFile(path, maxSecret)
	if err != nil {
		return "", err
	}
	s := string(bytes.TrimSpace(b))
	if s == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		return "", fmt.Errorf("%s has more than one line", path)
	}
	return Secret(s), nil
}

// ReadFile reads a file of at most limit bytes, whatever it is.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: %w", path, errTooLong)
	}
	return b, nil
}

var errTooLong = errors.New("longer than what belongs there")
