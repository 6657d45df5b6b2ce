package amdsmi

import (
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// eventPID finds the process in the driver's text of an event. Faults and the life
// of processes begin with its number in hexadecimal ("4d2:name", "4d2 name"), those
// of memory and queues with the time, a minus and its number in decimal
// ("123456 -1234 @…"); others name none.
func eventPID(kind, message string) uint32 {
	switch kind {
	case smi.EventVMFault, smi.EventProcessStart, smi.EventProcessEnd:
		end := strings.IndexAny(message, ": ")
		if end < 0 {
			end = len(message)
		}
		pid, err := strconv.ParseUint(message[:end], 16, 31)
		if err != nil {
			return 0
		}
		return uint32(pid)
	case smi.EventMigrateStart, smi.EventMigrateEnd, smi.EventPageFaultStart, smi.EventPageFaultEnd,
		smi.EventQueueEviction, smi.EventQueueRestore, smi.EventUnmap:
		words := strings.Fields(message)
		if len(words) < 2 || words[1][0] != '-' {
			return 0
		}
		pid, err := strconv.ParseUint(words[1][1:], 10, 31)
		if err != nil {
			return 0
		}
		return uint32(pid)
	}
	return 0
}
