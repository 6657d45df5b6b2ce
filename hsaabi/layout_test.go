//go:build linux

package hsaabi

import (
	"reflect"
	"testing"
)

// TestLayouts: the structs lie in memory as the table says.
func TestLayouts(t *testing.T) {
	for name, want := range layouts {
		typ := reflect.TypeOf(want.v)
		if typ.Size() != want.size {
			t.Errorf("%s: %d bytes, not %d", name, typ.Size(), want.size)
		}
		for member, at := range want.members {
			if f, ok := typ.FieldByName(member); !ok || f.Offset != at {
				t.Errorf("%s.%s: at %d, not %d", name, member, f.Offset, at)
			}
		}
	}
	if len(layouts) < 25 {
		t.Errorf("%d structs", len(layouts))
	}
}
