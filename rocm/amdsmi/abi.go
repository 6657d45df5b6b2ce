package amdsmi

import (
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// abi is what differs between the library's interfaces.
type abi struct {
	number   int // in the SONAME
	minMinor uint32
	layouts  *layouts

	linkXGMI, linkPCIe uint64            // amdsmi_link_type_t of amdsmi_get_link_metrics
	events             map[uint64]string // amdsmi_evt_notification_type_t
	moreData           uint32            // AMDSMI_STATUS_MORE_DATA
}

// events26 are the events since ABI 26, those of the kernel driver.
var events26 = map[uint64]string{
	1: smi.EventVMFault, 2: smi.EventThermalThrottle, 3: smi.EventPreReset, 4: smi.EventPostReset,
	5: smi.EventMigrateStart, 6: smi.EventMigrateEnd, 7: smi.EventPageFaultStart, 8: smi.EventPageFaultEnd,
	9: smi.EventQueueEviction, 10: smi.EventQueueRestore, 11: smi.EventUnmap, 12: smi.EventProcessStart, 13: smi.EventProcessEnd,
}

var events25 = map[uint64]string{
	1: smi.EventVMFault, 2: smi.EventThermalThrottle, 3: smi.EventPreReset, 4: smi.EventPostReset, 5: smi.EventRingHang,
}

// knownABIs are the interfaces this package can talk to, newest first. Before 25.3
// structures were others under the same SONAME.
var knownABIs = []*abi{
	{number: 27, layouts: layouts27(), linkPCIe: 1, linkXGMI: 2, events: events26, moreData: 39},
	{number: 26, layouts: layouts26(), linkPCIe: 1, linkXGMI: 2, events: events26, moreData: 39},
	{number: 25, minMinor: 3, layouts: layouts25(), linkXGMI: 1, linkPCIe: 2, events: events25, moreData: 57},
}

const soname = "libamd_smi.so."

// abiNumber is the number in a SONAME.
func abiNumber(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, soname)
	if !ok {
		return 0, false
	}
	rest, _, _ = strings.Cut(rest, ".")
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

// abiOf is the interface of a library with that SONAME.
func abiOf(file, name string) (*abi, error) {
	n, ok := abiNumber(name)
	if !ok {
		return nil, smi.Errorf(smi.ErrNotSupported, "%s is no libamd_smi: its SONAME is %q", file, name)
	}
	var known []string
	for _, a := range knownABIs {
		if a.number == n {
			return a, nil
		}
		known = append(known, strconv.Itoa(a.number))
	}
	return nil, smi.Errorf(smi.ErrNotSupported, "%s has ABI %d; known are %s", file, n, strings.Join(known, ", "))
}

// version is what amdsmi_get_lib_version tells.
type version struct{ major, minor, release uint32 }

func (v version) String() string {
	return strconv.Itoa(int(v.major)) + "." + strconv.Itoa(int(v.minor)) + "." + strconv.Itoa(int(v.release))
}

// check says whether a library of that version is of interface a.
func (a *abi) check(file string, v version) error {
	if int64(v.major) != int64(a.number) {
		return smi.Errorf(smi.ErrNotSupported, "%s calls itself version %s, but its SONAME %s%d", file, v, soname, a.number)
	}
	if v.minor < a.minMinor {
		return smi.Errorf(smi.ErrNotSupported, "%s is version %s; of ABI %d, versions before %d.%d are unknown", file, v, a.number, a.number, a.minMinor)
	}
	return nil
}
