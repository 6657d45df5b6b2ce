// Command host loads a provider library as TensorFusion's hypervisor does, without cgo,
// and calls it in the hypervisor's order and at its rates, or faster. It prints one JSON
// object about what it saw; what breaks the contract ends it with status 1.
//
//	host -library PATH [-for 2m] [-faster 1]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the provider's functions. AccelResult has 32 bits.
type library struct {
	init, shutdown func() int32
	count          func(*uintptr) int32
	devices        func(*deviceInfo, uintptr, *uintptr) int32
	topology       func(*topology) int32
	assign         func(string, string, unsafe.Pointer) int32
	remove         func(string, string) int32
	memoryLimit    func(string, uint64) int32
	computeLimit   func(string, uint32) int32
	snapshot       func(unsafe.Pointer) int32
	resume         func(unsafe.Pointer) int32
	processes      func(*processInformation, uintptr, *uintptr) int32
	metrics        func(**byte, uintptr, *deviceMetrics) int32
	mounts         func(*mountPath, uintptr, *uintptr) int32
	registerLog    func(uintptr) int32
}

func load(path string) *library {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		fail("%v", err)
	}
	l := &library{}
	for name, f := range map[string]any{
		"AccelInit": &l.init, "AccelShutdown": &l.shutdown, "AccelGetDeviceCount": &l.count, "AccelGetAllDevices": &l.devices,
		"AccelGetAllDevicesTopology": &l.topology, "AccelAssignPartition": &l.assign, "AccelRemovePartition": &l.remove,
		"AccelSetMemHardLimit": &l.memoryLimit, "AccelSetComputeUnitHardLimit": &l.computeLimit, "AccelSnapshot": &l.snapshot,
		"AccelResume": &l.resume, "AccelGetProcessInformation": &l.processes, "AccelGetDeviceMetrics": &l.metrics,
		"AccelGetVendorMountLibs": &l.mounts, "AccelRegisterLogCallback": &l.registerLog,
	} {
		purego.RegisterLibFunc(f, h, name)
	}
	return l
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "host: "+format+"\n", args...)
	os.Exit(1)
}

// seen is what the host prints.
type seen struct {
	Devices, Peers          int
	Bandwidth               int64 // from the first card to the second
	Calls                   int64
	Processes               int     // most rows at once
	Compute, Busy           float64 // the highest percentages
	Memory                  uint64  // the most memory of a process
	Failures                int64
	Logs                    int64
	Figures                 []string // keys of the extra metrics
	RSSBefore, RSSAfter     int64    // KiB
	FilesBefore, FilesAfter int
	Threads                 int
}

var (
	logs atomic.Int64
	out  seen
	mu   sync.Mutex
)

func text(b []byte) string {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		fail("a text does not end")
	}
	return string(b[:n])
}

func finite(what string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		fail("%s is %v", what, v)
	}
}

// discover is the hypervisor's discovery.
func (l *library) discover() []string {
	var n uintptr
	if r := l.count(&n); r != 0 {
		fail("AccelGetDeviceCount: %d", r)
	}
	if n == 0 || n > maxDevices {
		fail("%d devices", n)
	}
	list := make([]deviceInfo, n)
	var got uintptr
	if r := l.devices(&list[0], n, &got); r != 0 || got > n {
		fail("AccelGetAllDevices: %d, %d", r, got)
	}
	var uuids []string
	for i := range list[:got] {
		d := &list[i]
		u := text(d.Basic.UUID[:])
		if u == "" || strings.Trim(u, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || text(d.Basic.Vendor[:]) != "AMD" || d.PropertyCount > 64 {
			fail("device %d: %q", i, u)
		}
		finite("MaxTflops", d.Basic.MaxTflops)
		uuids = append(uuids, u)
	}
	t := new(topology)
	if r := l.topology(t); r != 0 || t.DeviceCount != got {
		fail("AccelGetAllDevicesTopology: %d, %d rows", r, t.DeviceCount)
	}
	for i := range t.Devices[:got] {
		d := &t.Devices[i]
		if text(d.DeviceUUID[:]) != uuids[i] || d.PeerCount != got {
			fail("row %d of the topology: %q, %d peers", i, text(d.DeviceUUID[:]), d.PeerCount)
		}
		for k := range d.Peers[:d.PeerCount] {
			if p := &d.Peers[k]; text(p.PeerUUID[:]) != uuids[k] || int(p.PeerIndex) != k {
				fail("row %d of the topology, peer %d: %q %d", i, k, text(p.PeerUUID[:]), p.PeerIndex)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	out.Devices, out.Peers = int(got), int(t.Devices[0].PeerCount)
	if got > 1 {
		out.Bandwidth = t.Devices[0].Peers[1].BandwidthBytesPerSec
	}
	return uuids
}

// figures is what the hypervisor does every metrics interval.
func (l *library) figures(uuids []string) {
	names := make([][]byte, len(uuids))
	ask := make([]*byte, len(uuids))
	for i, u := range uuids {
		names[i] = append([]byte(u), 0)
		ask[i] = &names[i][0]
	}
	list := make([]deviceMetrics, len(uuids))
	atomic.AddInt64(&out.Calls, 1)
	r := l.metrics(&ask[0], uintptr(len(ask)), &list[0])
	runtime.KeepAlive(names)
	if r != 0 {
		atomic.AddInt64(&out.Failures, 1)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range list {
		m := &list[i]
		if text(m.DeviceUUID[:]) != uuids[i] || m.UtilizationPercent > 100 || m.ExtraMetricsCount > 64 {
			fail("metrics of %s: %q %d %d", uuids[i], text(m.DeviceUUID[:]), m.UtilizationPercent, m.ExtraMetricsCount)
		}
		finite("power", m.PowerUsageWatts)
		finite("temperature", m.TemperatureC)
		out.Busy = max(out.Busy, float64(m.UtilizationPercent))
		for k := range m.ExtraMetrics[:m.ExtraMetricsCount] {
			key := text(m.ExtraMetrics[k].Key[:])
			finite(key, m.ExtraMetrics[k].Value)
			if !slices.Contains(out.Figures, key) {
				out.Figures = append(out.Figures, key)
			}
		}
	}
}

// who is what it does twice a second.
func (l *library) who() {
	list := make([]processInformation, maxProcesses)
	var n uintptr
	atomic.AddInt64(&out.Calls, 1)
	if r := l.processes(&list[0], maxProcesses, &n); r != 0 {
		atomic.AddInt64(&out.Failures, 1)
		return
	}
	if n > maxProcesses {
		fail("%d processes", n)
	}
	mu.Lock()
	defer mu.Unlock()
	out.Processes = max(out.Processes, int(n))
	for i := range list[:n] {
		p := &list[i]
		finite("compute", p.ComputePercent)
		finite("memory", p.MemoryPercent)
		if p.ComputePercent < 0 || p.ComputePercent > 100 || p.MemoryPercent < 0 || p.MemoryPercent > 100 || p.ActiveSMs > p.TotalSMs || text(p.ProcessID[:]) == "" {
			fail("process %q: %+v", text(p.ProcessID[:]), p)
		}
		out.Compute, out.Memory = max(out.Compute, p.ComputePercent), max(out.Memory, p.MemoryUsedBytes)
	}
}

func main() {
	path := flag.String("library", "", "the provider")
	span := flag.Duration("for", 2*time.Minute, "how long")
	faster := flag.Int("faster", 1, "how many times the hypervisor's rates")
	flag.Parse()
	l := load(*path)
	l.registerLog(purego.NewCallback(func(level, message *byte) {
		logs.Add(1)
	}))
	if r := l.init(); r != 0 {
		fail("AccelInit: %d", r)
	}
	if r := l.init(); r != 0 { // Load may repeat
		fail("AccelInit again: %d", r)
	}
	uuids := l.discover()

	var wg sync.WaitGroup
	stop := make(chan struct{})
	every := func(d time.Duration, f func()) {
		wg.Go(func() {
			t := time.NewTicker(d / time.Duration(*faster))
			defer t.Stop()
			for {
				f()
				select {
				case <-t.C:
				case <-stop:
					return
				}
			}
		})
	}
	every(60*time.Second, func() { l.figures(uuids); l.who() })
	every(500*time.Millisecond, l.who)
	every(12*time.Hour, func() { l.discover() })
	every(10*time.Second, func() { // allocations of workers
		mounts := make([]mountPath, 64)
		var n uintptr
		if r := l.mounts(&mounts[0], 64, &n); r != 0 || n > 64 {
			fail("AccelGetVendorMountLibs: %d, %d", r, n)
		}
	})
	// A crowd: many calls at the same moment, as from the hypervisor's HTTP handlers.
	every(20*time.Second, func() {
		var crowd sync.WaitGroup
		for range 200 {
			crowd.Go(func() { l.who(); l.figures(uuids) })
		}
		crowd.Wait()
	})

	time.Sleep(*span / 3) // threads, caches and heaps have their size then
	before := usage()
	time.Sleep(*span - *span/3)
	close(stop)
	wg.Wait()
	after := usage()
	out.RSSBefore, out.FilesBefore = before.rss, before.files
	out.RSSAfter, out.FilesAfter, out.Threads = after.rss, after.files, after.threads
	l.registerLog(0)
	out.Logs = logs.Load()
	if err := json.NewEncoder(os.Stdout).Encode(&out); err != nil {
		fail("%v", err)
	}
}

type resources struct {
	rss            int64
	files, threads int
}

// usage is what the process holds, the host's own garbage apart.
func usage() (u resources) {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail("%v", err)
	}
	for line := range strings.Lines(string(status)) {
		// What of a line is no number leaves the figure as it is, 0.
		_, _ = fmt.Sscanf(line, "VmRSS: %d", &u.rss)
		_, _ = fmt.Sscanf(line, "Threads: %d", &u.threads)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fail("%v", err)
	}
	u.files = len(files)
	return u
}
