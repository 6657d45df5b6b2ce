package exec

// Meetings. Waves of a workgroup that meet at barriers again and again do little in
// between. Where all of them go on from a barrier in translated code, they are a ring:
// at the next barrier the code goes from one wave to the next by itself, and
// behind the last one from the barrier on. The first time that the code returns to Go, for
// whatever reason, they are no ring any more: those before the wave that executes then have
// come to the barrier, those behind it have not begun yet.

// waveMeet is a wave's place in the ring.
type waveMeet struct {
	next   *wave   // nil: there is none
	resume uintptr // where it goes on when it is its turn
	exit   uint32  // 1 + number of the exit of its region at the barrier where it is, 0: it has not moved yet
}
