package exec

// Meetings. Waves of a workgroup that meet at barriers again and again, or give way to each other, do little in
// between. Where all of them go on from such a place in translated code, they are a ring:
// at the next one the code goes from one wave to the next by itself, and
// behind the last one from there on. All of them have to stop at the same, a barrier or a wait: one that does not is where
// the ring ends, as a wave must not leave a barrier before all have come. The first time that the code returns to Go, for
// whatever reason, they are no ring any more: those before the wave that executes then have
// come to the barrier or given way, those behind it have not begun yet.

// waveMeet is a wave's place in the ring.
type waveMeet struct {
	next   *wave   // nil: there is none
	resume uintptr // where it goes on when it is its turn
	exit   uint32  // 1 + number of the exit of its region where it is, 0: it has not moved yet
	of     uint32  // what the wave before it stopped at
	first  uint32  // not 0: there is none before it
}
