package main

import (
	"runtime"
	"runtime/debug"
)

// gcPercent is by how much the heap grows between collections. What lives in it is small
// and lives long: collecting a third more often than usual costs half a millisecond a
// scrape and saves 2 MiB.
const gcPercent = 75

// maxThreads is how many threads run Go at once. What can be kept for each of them is, so that
// memory grows with their number, and a machine with 8 cards has some hundred cores, all of
// which have other things to do.
const maxThreads = 2

// saveMemory keeps the program small, which has its place beside the work it watches.
// GOGC and GOMAXPROCS say otherwise. Profiles of memory, which take some themselves, are
// only kept where they can be asked for.
func saveMemory(getenv func(string) string, profiles bool) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > maxThreads {
		runtime.GOMAXPROCS(maxThreads)
	}
	if !profiles {
		runtime.MemProfileRate = 0
	}
}
