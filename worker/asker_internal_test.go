package worker

import (
	"slices"
	"testing"
)

// TestAsker: answers reach who asked, in whatever order they come; what nobody waits for is given back once; and nobody waits when nobody reads answers any more.
func TestAsker(t *testing.T) {
	parent, child := controls(t)
	var unread []string
	k := newAsker(child, func(a string) { unread = append(unread, a) })
	type got struct {
		n  byte
		a  string
		ok bool
	}
	answers := make(chan got)
	ask := func(n byte) {
		a, ok := k.ask(func(id uint32) []byte { return []byte{msgShare, n, byte(id)} }, -1)
		answers <- got{n, a, ok}
	}
	ids := map[byte]uint32{}
	for n := range byte(3) {
		go ask(n)
		if err := parent.next(func(msg []byte, _ int) error { ids[msg[1]] = uint32(msg[2]); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	k.answer(ids[2], "two")
	if g := <-answers; g != (got{2, "two", true}) {
		t.Errorf("%+v", g)
	}
	k.answer(ids[2], "two again")
	k.answer(ids[0], "none")
	if g := <-answers; g != (got{0, "none", true}) {
		t.Errorf("%+v", g)
	}
	k.answer(99, "never asked")
	close(k.over)
	if g := <-answers; g != (got{1, "", false}) {
		t.Errorf("%+v", g)
	}
	k.answer(ids[1], "late")
	if want := []string{"two again", "never asked", "late"}; !slices.Equal(unread, want) {
		t.Errorf("given back %q, not %q", unread, want)
	}
}
