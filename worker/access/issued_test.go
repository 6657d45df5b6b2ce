package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// A token that was taken back, or was followed by another of its id, holds for nobody any more.
func TestHolds(t *testing.T) {
	now := time.Now()
	issued, err := openIssued(filepath.Join(t.TempDir(), "tokens"), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	a := &Authority{cfg: Config{Now: func() time.Time { return now }}, issued: issued}
	a.cfg.Card = func(context.Context, string) (int, error) { return 0, nil }
	come := func(secret string) *Identity {
		t.Helper()
		d := sha256.Sum256([]byte(secret))
		if _, err := a.Issue(t.Context(), smi.Token{ID: "job", SHA256: hex.EncodeToString(d[:]), User: "ada", Cards: []string{"card"}, Expires: now.Add(time.Hour)}, nil); err != nil {
			t.Fatal(err)
		}
		who, err := a.ofToken(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		return &who
	}
	first := come("first")
	if !a.Holds(first) {
		t.Error("a token that has just been issued does not hold")
	}
	second := come("second")
	if a.Holds(first) || !a.Holds(second) {
		t.Errorf("the first holds: %v, the second: %v", a.Holds(first), a.Holds(second))
	}
	if err := a.Revoke("job"); err != nil {
		t.Fatal(err)
	}
	third := come("third")
	if a.Holds(second) || !a.Holds(third) {
		t.Errorf("taken back: %v, the third: %v", a.Holds(second), a.Holds(third))
	}
	now = now.Add(2 * time.Hour)
	if a.Holds(third) {
		t.Error("it has expired")
	}
}
