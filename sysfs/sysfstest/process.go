package sysfstest

import "fmt"

// Process adds a process to proc.
func (t *Tree) Process(pid int, name string) {
	dir := fmt.Sprintf("proc/%d", pid)
	t.Write(dir+"/comm", name+"\n")
	t.Write(dir+"/stat", fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 100 0 0 0 10 5 0 0 20 0 1 0 %d 1000000 500 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, name, pid, pid, 1000+pid))
}

// Use is what a process does on one card by the compute driver.
type Use struct {
	VRAM    uint64 // bytes
	SDMA    uint64 // µs
	Evicted uint64 // ms
	Units   int
	Queues  int
}

// Compute adds a process to the compute driver's list. As there, it is listed under
// every card, with zeros where it does nothing.
func (t *Tree) Compute(pid int, uses map[int]Use) {
	dir := fmt.Sprintf("sys/class/kfd/kfd/proc/%d", pid)
	t.Write(dir+"/pasid", fmt.Sprintf("%d\n", 0x8000+pid))
	queue := 0
	for i, c := range t.Cards {
		if c.GPUID == 0 {
			continue
		}
		u := uses[i]
		t.Write(fmt.Sprintf("%s/vram_%d", dir, c.GPUID), fmt.Sprintf("%d\n", u.VRAM))
		t.Write(fmt.Sprintf("%s/sdma_%d", dir, c.GPUID), fmt.Sprintf("%d\n", u.SDMA))
		t.Write(fmt.Sprintf("%s/stats_%d/evicted_ms", dir, c.GPUID), fmt.Sprintf("%d\n", u.Evicted))
		t.Write(fmt.Sprintf("%s/stats_%d/cu_occupancy", dir, c.GPUID), fmt.Sprintf("%d\n", u.Units))
		for range u.Queues {
			t.writeAll(fmt.Sprintf("%s/queues/%d", dir, queue), files{
				"gpuid": fmt.Sprintf("%d\n", c.GPUID), "size": "1048576\n", "type": "0\n",
			})
			queue++
		}
	}
}

// Graphics lets a process have a card open: a descriptor in proc.
func (t *Tree) Graphics(pid, fd, card int, client, vramKiB, gttKiB, gfxNS, encNS uint64) {
	c := t.Cards[card]
	t.Link(fmt.Sprintf("proc/%d/fd/%d", pid, fd), fmt.Sprintf("/dev/dri/renderD%d", c.render))
	t.Write(fmt.Sprintf("proc/%d/fdinfo/%d", pid, fd), fmt.Sprintf(
		"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t1017\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\ndrm-pdev:\t%s\npasid:\t32770\n"+
			"drm-memory-vram:\t%d KiB\ndrm-memory-gtt: \t%d KiB\ndrm-memory-cpu: \t0 KiB\namd-memory-visible-vram:\t%d KiB\n"+
			"drm-engine-gfx:\t%d ns\ndrm-engine-enc:\t%d ns\n", client, c.BDF, vramKiB, gttKiB, vramKiB, gfxNS, encNS))
}
