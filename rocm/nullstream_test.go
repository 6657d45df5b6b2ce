package rocm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// The null stream and the streams that block wait for each other as the library's own would, and for no more: it is told nothing itself.
func TestNullStream(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("STUB_STREAM_LOG", log)
	r := stub(t, "testdata/stub_null.c")
	stream := func(flags uint32) hip.Stream {
		s, e := r.StreamCreateWithPriority(thread, flags, 1) // those of the library's own have another
		must(t, "StreamCreateWithPriority", e)
		return s
	}
	two, four, six := stream(hip.StreamDefault), stream(hip.StreamDefault), stream(hip.StreamNonBlocking)
	tell := func(s hip.Stream) {
		t.Helper()
		must(t, "StreamWriteValue32", r.StreamWriteValue32(thread, s, 8, 1, 0))
	}
	said := func(what, want string) {
		t.Helper()
		b, _ := os.ReadFile(log)
		_ = os.Remove(log)
		if got := strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", ", "); got != want {
			t.Errorf("%s: the library was told %q, want %q", what, got, want)
		}
	}
	tell(two)
	tell(six)
	said("no null stream", "write 2, write 6")
	tell(hip.StreamNull)
	said("behind one that blocks", "record 2 1, wait m 1, write m")
	tell(hip.StreamLegacy)
	said("once", "write m")
	tell(four)
	tell(four)
	said("behind the null stream, once", "record m 2, wait 4 2, write 4, write 4")
	tell(two)
	tell(six)
	said("another, behind the same", "wait 2 2, write 2, write 6")
	must(t, "StreamQuery", r.StreamQuery(thread, four))
	said("what asks one that blocks", "query 4")
	must(t, "StreamQuery", r.StreamQuery(thread, hip.StreamNull))
	said("what asks the null stream", "record 2 1, wait m 1, record 4 3, wait m 3, query m")
	must(t, "StreamSynchronize", r.StreamSynchronize(thread, hip.StreamNull))
	said("what waits for it", "synchronize m")
	tell(four)
	must(t, "StreamDestroy", r.StreamDestroy(thread, four))
	tell(hip.StreamNull)
	said("one that has ended", "write 4, query 4, record 4 4, destroy 4, write m")
	must(t, "EventRecord", r.EventRecord(thread, 77, hip.StreamNull))
	must(t, "StreamWaitEvent", r.StreamWaitEvent(thread, two, 77, 0))
	said("events", "record m 77, record m 2, wait 2 2, wait 2 77")
	tell(six)
	must(t, "another device", r.StreamWriteValue32(hip.Thread{Device: 1}, hip.StreamNull, 8, 1, 0))
	said("another device", "write 6, write m")
	for s, want := range map[hip.Stream]uint32{two: hip.StreamDefault, six: hip.StreamNonBlocking} {
		if flags, e := r.StreamGetFlags(thread, s); e != hip.Success || flags != want {
			t.Errorf("stream %#x has flags %d, %v", s, flags, e)
		}
	}
}
