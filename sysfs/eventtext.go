package sysfs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// kfdEvents are the events by number: their kind, and a function that reads the
// details and reports whether they have the form it expects.
var kfdEvents = map[uint64]struct {
	kind string
	read func(e *smi.Event, rest string, f []string) bool
}{
	kfdVMFault:         {smi.EventVMFault, readFault},
	kfdThermalThrottle: {smi.EventThermalThrottle, readThrottle},
	kfdPreReset:        {smi.EventPreReset, readReset},
	kfdPostReset:       {smi.EventPostReset, readReset},
	kfdMigrateStart:    {smi.EventMigrateStart, readTimed("migration")},
	kfdMigrateEnd:      {smi.EventMigrateEnd, readTimed("migration")},
	kfdPageFaultStart:  {smi.EventPageFaultStart, readTimed("page fault")},
	kfdPageFaultEnd:    {smi.EventPageFaultEnd, readTimed("page fault")},
	kfdQueueEviction:   {smi.EventQueueEviction, readTimed("queue")},
	kfdQueueRestore:    {smi.EventQueueRestore, readTimed("queue")},
	kfdUnmap:           {smi.EventUnmap, readTimed("memory")},
	kfdProcessStart:    {smi.EventProcessStart, readProcess},
	kfdProcessEnd:      {smi.EventProcessEnd, readProcess},
}

// parseKFDEvent reads one line of the compute driver's: the event's number in
// hexadecimal and its details, in the form of the kernel's KFD_EVENT_FMT_*. An event
// that is not known is left out; of one whose details have another form they are
// kept as they are. The times in lines count from the start of the machine and are
// not used.
func parseKFDEvent(line string) (e smi.Event, ok bool) {
	num, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, err := strconv.ParseUint(num, 16, 8)
	if err != nil {
		return e, false
	}
	k, ok := kfdEvents[n]
	if !ok {
		return e, false
	}
	rest = smi.Printable(rest) // program names are whatever programs call themselves
	e.Kind = k.kind
	if !k.read(&e, rest, strings.Fields(rest)) {
		e.PID, e.Message = 0, rest
	}
	return e, true
}

// readFault: "pid:name", the number in hexadecimal.
func readFault(e *smi.Event, rest string, _ []string) bool {
	pid, name, ok := strings.Cut(rest, ":")
	e.Message = "memory fault in " + name
	return ok && readPID(e, pid, 16)
}

// readThrottle: "reasons:count", both in hexadecimal.
func readThrottle(e *smi.Event, rest string, _ []string) bool {
	bits, times, ok := strings.Cut(rest, ":")
	b, err1 := strconv.ParseUint(bits, 16, 64)
	n, err2 := strconv.ParseUint(times, 16, 64)
	e.Message = fmt.Sprintf("clocks lowered, reasons 0x%x, %d times so far", b, n)
	return ok && err1 == nil && err2 == nil
}

// readReset: the number of the reset in hexadecimal and, in newer kernels, its cause.
func readReset(e *smi.Event, rest string, f []string) bool {
	if len(f) == 0 {
		return false
	}
	n, err := strconv.ParseUint(f[0], 16, 64)
	e.Message = fmt.Sprintf("reset %d", n)
	if _, cause, ok := strings.Cut(rest, " "); ok && strings.TrimSpace(cause) != "" {
		e.Message += ": " + strings.TrimSpace(cause)
	}
	return err == nil
}

// readProcess: "pid name", the number in hexadecimal.
func readProcess(e *smi.Event, rest string, _ []string) bool {
	pid, name, ok := strings.Cut(rest, " ")
	e.Message = name
	return ok && readPID(e, pid, 16)
}

// readTimed: "nanoseconds -pid details", both in decimal.
func readTimed(what string) func(*smi.Event, string, []string) bool {
	return func(e *smi.Event, _ string, f []string) bool {
		if len(f) < 3 || len(f[1]) < 2 || f[1][0] != '-' {
			return false
		}
		if _, err := strconv.ParseInt(f[0], 10, 64); err != nil {
			return false
		}
		e.Message = what + " " + strings.Join(f[2:], " ")
		return readPID(e, f[1][1:], 10)
	}
}

func readPID(e *smi.Event, s string, base int) bool {
	v, err := strconv.ParseUint(s, base, 31)
	e.PID = uint32(v)
	return err == nil
}
