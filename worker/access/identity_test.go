package access

import "testing"

func TestKeysOfMethodsDiffer(t *testing.T) {
	a, b := Identity{Name: "root", Method: Socket}, Identity{Name: "root", Method: Local}
	if a.Key() == b.Key() || a.Key() == (&Identity{Method: Socket}).Key() {
		t.Error("two identities have the same key")
	}
}

func TestRights(t *testing.T) {
	r := HIP | Read
	if !r.Has(HIP) || !r.Has(HIP|Read) || r.Has(HIP|Kill) || !All.Has(r) {
		t.Errorf("rights %b", r)
	}
}
