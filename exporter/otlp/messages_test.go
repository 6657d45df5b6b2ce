package otlp

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// Attributes that several points have are made once, and different ones never meet.
func TestAttributesOnce(t *testing.T) {
	m := newMessages()
	a, b := attribute.NewSet(kv("x", "1"), kv("y", "2")), attribute.NewSet(kv("x", "1"))
	first, other := m.attrs(a), m.attrs(b)
	if len(first) != 2 || len(other) != 1 {
		t.Fatalf("%v, %v", first, other)
	}
	if again := m.attrs(attribute.NewSet(kv("y", "2"), kv("x", "1"))); &again[0] != &first[0] {
		t.Error("the same attributes are made twice")
	}
	m.known[a.Equivalent()] = m.known[b.Equivalent()] // as if both had one key
	if got := m.attrs(a); show(got) != show(first) {
		t.Errorf("attributes of another point: %v", got)
	}
}
