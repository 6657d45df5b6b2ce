package exec

// Meetings. Waves of a workgroup that meet at barriers again and again, or give way to each other, do little in
// between. Where all of them go on from such a place in translated code, they are a ring:
// at the next one the code goes from one wave to the next by itself, and
// behind the last one from there on. A wave must not leave a barrier before all have come: where some stopped at
// a barrier and others gave way, the ring is mixed, and those at the barrier are passed over until all are there. The first time that
// the code returns to Go, for whatever reason, they are no ring any more: those before the wave that executes then have
// come to the barrier or given way, those behind it have not begun yet or are held at the barrier.
//
// Waves are a ring from their beginning on, too. They leave it together: where all before a wave have ended in this turn, it ends as well.
// If workgroups are chained (see chain.go), the code goes on with the next one behind the last wave: it clears the LDS, and each wave begins anew
// when it is its turn. Waves that have not are those whose number of the workgroup is another than that of the wave that executes.

// waveMeet is a wave's place in the ring.
type waveMeet struct {
	next   *wave   // nil: there is none
	resume uintptr // where it goes on when it is its turn
	exit   uint32  // 1 + number of the exit of its region where it is, 0: it has not moved yet
	of     uint32  // what the waves before it stopped at, or what it waits for itself
	first  uint32  // not 0: there is none before it
	left   uint32  // of the last one: workgroups that may follow
	gives  spaces  // what wave.gives is when it begins
}
