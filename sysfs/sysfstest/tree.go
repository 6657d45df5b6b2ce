// Package sysfstest builds trees of files like those the kernel shows of machines
// with AMD GPUs, for tests of package sysfs and of what reads it. The content of the
// files has the form that the kernel's sources give them; the gpu_metrics tables are
// written by byte offsets, apart from the code that reads them.
//
// A tree is trusted: it is made by a test for itself.
package sysfstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tree is a root directory with sys, proc and usr.
type Tree struct {
	tb    testing.TB
	Root  string
	Cards []Card // in order of their PCI addresses
	nodes int
}

// Card is a card of a tree.
type Card struct {
	Number int    // of /sys/class/drm/cardN
	BDF    string // "0000:05:00.0"
	Dir    string // its PCI device, below the root
	GPUID  uint64 // of the compute driver; 0 if it has none
	Node   int    // of the compute driver's topology
	render int
}

// New is an empty tree of a machine whose processes are numbered as on the host.
func New(tb testing.TB) *Tree {
	tb.Helper()
	t := &Tree{tb: tb, Root: tb.TempDir()}
	t.Write("sys/module/amdgpu/version", "6.12.12\n")
	t.Write("sys/module/amdgpu/parameters/bad_page_threshold", "-1\n")
	t.Write("proc/sys/kernel/osrelease", "6.8.0-60-generic\n")
	t.Write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu vme sse2 avx512f\n")
	t.Process(1, "systemd")
	t.Link("proc/1/ns/pid", "pid:[4026531836]")
	return t
}

// Write makes a file, and the directories it needs. Who reads it meanwhile sees the
// old content or the new one, as with the kernel's files.
func (t *Tree) Write(name, text string) {
	t.tb.Helper()
	path := filepath.Join(t.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.tb.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.tb.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.tb.Fatal(err)
	}
}

// Read is what is in a file.
func (t *Tree) Read(name string) string {
	t.tb.Helper()
	b, err := os.ReadFile(filepath.Join(t.Root, name))
	if err != nil {
		t.tb.Fatal(err)
	}
	return string(b)
}

// Remove takes a file or a directory away.
func (t *Tree) Remove(name string) {
	t.tb.Helper()
	if err := os.RemoveAll(filepath.Join(t.Root, name)); err != nil {
		t.tb.Fatal(err)
	}
}

// Move gives a file or a directory another name.
func (t *Tree) Move(from, to string) {
	t.tb.Helper()
	if err := os.Rename(filepath.Join(t.Root, from), filepath.Join(t.Root, to)); err != nil {
		t.tb.Fatal(err)
	}
}

// Link makes a symbolic link. What it leads to is as it is given.
func (t *Tree) Link(name, to string) {
	t.tb.Helper()
	path := filepath.Join(t.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.tb.Fatal(err)
	}
	os.Remove(path)
	if err := os.Symlink(to, path); err != nil {
		t.tb.Fatal(err)
	}
}

// Set changes a file of a card.
func (t *Tree) Set(card int, name, text string) { t.Write(t.Cards[card].Dir+"/"+name, text) }

// Get is what is in a file of a card.
func (t *Tree) Get(card int, name string) string { return t.Read(t.Cards[card].Dir + "/" + name) }

// files are names and contents below one directory.
type files map[string]string

func (t *Tree) writeAll(dir string, fs files) {
	for name, text := range fs {
		t.Write(dir+"/"+name, text)
	}
}

// addCard adds a card that amdgpu drives: /sys/class/drm/cardN, its render node and a
// connector, and the files of its PCI device.
func (t *Tree) addCard(number, render int, bdf string, device, revision int, fs files) *Card {
	dir := fmt.Sprintf("sys/devices/pci0000:00/0000:00:01.1/%s", bdf)
	c := Card{Number: number, BDF: bdf, Dir: dir, render: render}
	card, rend := fmt.Sprintf("card%d", number), fmt.Sprintf("renderD%d", render)
	t.drm(dir, card, "../../../"+bdf)
	t.drm(dir, rend, "../../../"+bdf)
	t.Write(dir+"/drm/"+card+"/"+card+"-DP-1/status", "disconnected\n")
	t.Link("sys/class/drm/"+card+"-DP-1", "../../../"+dir+"/drm/"+card+"/"+card+"-DP-1")
	t.writeAll(dir, files{
		"uevent": fmt.Sprintf("DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:0C34\nPCI_SLOT_NAME=%s\n", device, bdf),
		"vendor": "0x1002\n", "device": fmt.Sprintf("0x%04x\n", device), "revision": fmt.Sprintf("0x%02x\n", revision),
		"subsystem_vendor": "0x1002\n", "subsystem_device": "0x0c34\n",
		"power_dpm_force_performance_level": "auto\n",
	})
	t.writeAll(dir, fs)
	t.Cards = append(t.Cards, c)
	return &t.Cards[len(t.Cards)-1]
}

func (t *Tree) drm(dir, name, device string) {
	t.Write(dir+"/drm/"+name+"/dev", "226:0\n")
	t.Link(dir+"/drm/"+name+"/device", "../../../"+filepath.Base(dir))
	t.Link("sys/class/drm/"+name, "../../../"+dir+"/drm/"+name)
}

// Foreign adds a card of another maker.
func (t *Tree) Foreign(number int) {
	dir := "sys/devices/pci0000:00/0000:00:02.0"
	t.Write(dir+"/uevent", "DRIVER=i915\nPCI_ID=8086:9A49\nPCI_SLOT_NAME=0000:00:02.0\n")
	t.drm(dir, fmt.Sprintf("card%d", number), "")
}

// part adds a part of a partitioned card: a platform device without files.
func (t *Tree) part(number int) {
	dir := fmt.Sprintf("sys/devices/platform/amdgpu_xcp_%d", number)
	t.Write(dir+"/uevent", fmt.Sprintf("DRIVER=amdgpu_xcp_drv\nMODALIAS=platform:amdgpu_xcp_%d\n", number))
	t.drm(dir, fmt.Sprintf("card%d", number), "")
}

// cpuNode adds a processor to the compute driver's topology.
func (t *Tree) cpuNode() int {
	n := t.nodes
	t.nodes++
	dir := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d", n)
	t.Write(dir+"/gpu_id", "0\n")
	t.Write(dir+"/properties", "cpu_cores_count 96\nsimd_count 0\nmem_banks_count 1\n")
	t.generation()
	return n
}

func (t *Tree) generation() {
	t.Write("sys/class/kfd/kfd/topology/generation_id", fmt.Sprintf("%d\n", t.nodes))
}

// gpuNode adds a card to the compute driver's topology.
func (t *Tree) gpuNode(c *Card, gpuID uint64, props string) {
	c.GPUID, c.Node = gpuID, t.nodes
	t.nodes++
	dir := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d", c.Node)
	var dom, bus, dev, fun int
	if _, err := fmt.Sscanf(c.BDF, "%x:%x:%x.%x", &dom, &bus, &dev, &fun); err != nil {
		t.tb.Fatal(err)
	}
	t.Write(dir+"/gpu_id", fmt.Sprintf("%d\n", gpuID))
	t.Write(dir+"/name", "\n")
	t.Write(dir+"/properties", fmt.Sprintf("cpu_cores_count 0\nvendor_id 4098\nlocation_id %d\ndomain %d\ndrm_render_minor %d\n%s",
		bus<<8|dev<<3|fun, dom, c.render, props))
	t.generation()
}

// bank adds a memory, cache a cache, to a node.
func (t *Tree) bank(node, heap int, size uint64, width, mhz int) {
	t.Write(fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/mem_banks/0/properties", node),
		fmt.Sprintf("heap_type %d\nsize_in_bytes %d\nflags 0\nwidth %d\nmem_clk_max %d\n", heap, size, width, mhz))
}

func (t *Tree) cache(node, i, level, kib, kind, units int) {
	t.Write(fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/caches/%d/properties", node, i),
		fmt.Sprintf("processor_id_low %d\nlevel %d\nsize %d\ncache_line_size 128\ntype %d\nsibling_map %s\n",
			i, level, kib, kind, strings.Repeat("1,", units)+"0,0,"))
}

// link joins two nodes. The bandwidths are in megabytes per second.
func (t *Tree) link(kind string, from, i, to, typ, weight, least, most int, flags uint32) {
	t.Write(fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/%s/%d/properties", from, kind, i), fmt.Sprintf(
		"type %d\nversion_major 0\nversion_minor 0\nnode_from %d\nnode_to %d\nweight %d\nmin_latency 0\nmax_latency 0\n"+
			"min_bandwidth %d\nmax_bandwidth %d\nrecommended_transfer_size 0\nflags %d\n", typ, from, to, weight, least, most, flags))
}
