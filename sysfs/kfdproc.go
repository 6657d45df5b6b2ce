package sysfs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

const kfdProc = "sys/class/kfd/kfd/proc"

// Bounds of what is looked at.
const (
	maxProcesses = 1 << 16
	maxQueues    = 4096
	maxContexts  = 64
)

// kfdRow is what the compute driver says of one process on one GPU. The process is
// numbered as the host numbers it, wherever the reader is.
type kfdRow struct {
	pid         uint32
	vram        smi.Opt[smi.Bytes]
	sdma        smi.Opt[smi.Duration]
	evicted     smi.Opt[smi.Duration]
	cuOccupancy smi.Opt[int]
}

// kfdRows lists the processes with memory or queues on a GPU, by gpu_id. The driver
// lists a process under every GPU as soon as it has opened the compute device, so
// being listed alone says nothing.
func kfdRows(t tree) (map[uint64][]kfdRow, error) {
	names, err := t.list(kfdProc)
	if err != nil {
		return nil, err
	}
	rows := map[uint64][]kfdRow{}
	for _, pid := range numbers(names, maxProcesses) {
		if pid == 0 {
			continue
		}
		dir := fmt.Sprintf("%s/%d", kfdProc, pid)
		sum := map[uint64]*kfdRow{}
		contexts := kfdContext(t, dir, sum)
		// A process with several contexts has a directory for each further one.
		for _, c := range contexts {
			kfdContext(t, dir+"/"+c, sum)
		}
		for gpu, r := range sum {
			r.pid = pid
			rows[gpu] = append(rows[gpu], *r)
		}
	}
	return rows, nil
}

// kfdContext adds one context's use to sum and names further contexts.
func kfdContext(t tree, dir string, sum map[uint64]*kfdRow) (contexts []string) {
	names, err := t.list(dir)
	if err != nil {
		return nil // it has ended meanwhile
	}
	queues := map[uint64]bool{}
	if qs, err := t.list(dir + "/queues"); err == nil {
		for i, q := range qs {
			if i >= maxQueues {
				break
			}
			if gpu, err := t.number(dir + "/queues/" + q + "/gpuid"); err == nil {
				queues[gpu] = true
			}
		}
	}
	for _, n := range names {
		if strings.HasPrefix(n, "context_") && len(contexts) < maxContexts {
			contexts = append(contexts, n)
			continue
		}
		id, ok := strings.CutPrefix(n, "vram_")
		if !ok {
			continue
		}
		gpu, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			continue
		}
		vram := smi.None[smi.Bytes]()
		if v, err := t.number(dir + "/" + n); err == nil {
			vram = memory(v)
		}
		if vram.Or(0) == 0 && !queues[gpu] {
			continue
		}
		r := sum[gpu]
		if r == nil {
			r = &kfdRow{}
			sum[gpu] = r
		}
		if v, ok := vram.Get(); ok {
			r.vram = smi.Some(r.vram.Or(0) + v)
		}
		if v, err := t.number(dir + "/sdma_" + id); err == nil {
			addTime(&r.sdma, v, time.Microsecond)
		}
		if v, err := t.number(dir + "/stats_" + id + "/evicted_ms"); err == nil {
			addTime(&r.evicted, v, time.Millisecond)
		}
		// A card that cannot tell answers with an error, or with a negative number.
		if v, err := t.signed(dir + "/stats_" + id + "/cu_occupancy"); err == nil && v >= 0 && v < 1<<16-1 {
			r.cuOccupancy = smi.Some(r.cuOccupancy.Or(0) + int(v))
		}
	}
	return contexts
}

// addTime adds v units to a running total; what does not fit is no time.
func addTime(sum *smi.Opt[smi.Duration], v uint64, unit time.Duration) {
	const longest = uint64(100 * 365 * 24 * time.Hour)
	if v > longest/uint64(unit) {
		return
	}
	*sum = smi.Some(sum.Or(0) + smi.Duration(v)*smi.Duration(unit))
}
