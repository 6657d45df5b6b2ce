package hipremote

import "testing"

// A reservation of which only a part was agreed on is given back as a whole, when that part is.
func TestTrim(t *testing.T) {
	got := reserveCandidates()
	if len(got) == 0 {
		t.Fatal("no range reserved")
	}
	for _, r := range got[1:] {
		unmap(r.base, r.size)
	}
	whole := got[0]
	part := addressRange{whole.base + whole.size/2, whole.size / 4}
	trim(whole, part)
	if err := commit(part.base, pageSize); err != nil {
		t.Fatal(err)
	}
	unmap(part.base, part.size/2) // a gap beside host memory: its addresses stay
	if err := reserveRange(whole.base, whole.size); err == nil {
		t.Error("the range could be reserved while a part was in use")
	}
	unmap(part.base, part.size)
	if err := reserveRange(whole.base, whole.size); err != nil {
		t.Errorf("the range was not given back: %v", err)
	}
	unmap(whole.base, whole.size)
}

// Memory without access is none that a program can have registered.
func TestMapped(t *testing.T) {
	base, err := mapApart(3 * pageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap(base, 3*pageSize)
	if base%granularity != 0 || !mapped(base+1, 3*pageSize-1) {
		t.Errorf("%#x is not mapped", base)
	}
	decommit(base+pageSize, pageSize)
	if mapped(base, 3*pageSize) || !mapped(base, pageSize) {
		t.Error("a page that was taken away counts as memory")
	}
}
