package smisource

import (
	"errors"
	"testing"

	"github.com/rocwire/rocwire/internal/tfconnect"
	"github.com/rocwire/rocwire/smi"
)

// A pod whose operator cannot be asked has no worker, and no cards of its own either.
func TestAddressOfOperator(t *testing.T) {
	got, _, err := One(func(name string) string { return map[string]string{tfconnect.URLVariable: "nonsense"}[name] })
	if got != nil || !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("%q, %v", got, err)
	}
}
