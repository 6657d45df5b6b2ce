package sysfs

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

const kfdNodes = "sys/class/kfd/kfd/topology/nodes"

// topology is the compute driver's view of the machine. It changes when a card is
// partitioned, comes or goes; the kernel counts the changes in generation_id.
type topology struct {
	generation uint64
	nodes      []*node // by number
	err        error   // why there is none
}

// node is a processor: a CPU socket, a GPU or a part of one.
type node struct {
	number uint32
	gpuID  uint64 // 0 for a CPU
	props  map[string]uint64
	links  []ioLink
}

// ioLink is a connection to another node; peer says whether it is a peer-to-peer
// connection through the processors between them.
type ioLink struct {
	to    uint32
	peer  bool
	props map[string]uint64
}

// Numbers of the kernel's kfd_crat.h: types of a link and its flags.
const (
	linkPCIe = 2
	linkXGMI = 11

	linkNonCoherent   = 1 << 1
	linkNoAtomics32   = 1 << 2
	linkNoAtomics64   = 1 << 3
	linkNoDMA         = 1 << 4
	linkBidirectional = 1 << 31
)

// maxNodes and maxLinks bound what is looked at: 8 cards of 8 parts and their CPUs,
// each linked with each, fit.
const (
	maxNodes = 1024
	maxLinks = 1024
)

// compute keeps the topology until it changes.
type compute struct {
	tree tree
	mu   sync.Mutex
	now  *topology
}

// read is the topology now; one without nodes if there is no compute driver or it
// may not be seen.
func (k *compute) read() *topology {
	k.mu.Lock()
	defer k.mu.Unlock()
	gen, err := k.tree.number("sys/class/kfd/kfd/topology/generation_id")
	if err == nil && k.now != nil && k.now.err == nil && k.now.generation == gen {
		return k.now
	}
	k.now = k.load(gen)
	return k.now
}

func (k *compute) load(gen uint64) *topology {
	top := &topology{generation: gen}
	names, err := k.tree.list(kfdNodes)
	if err != nil {
		top.err = err
		return top
	}
	for _, n := range numbers(names, maxNodes) {
		nd, err := k.node(n)
		if err != nil {
			// A container sees only the nodes of its own cards.
			if top.err == nil {
				top.err = err
			}
			continue
		}
		top.nodes = append(top.nodes, nd)
	}
	if len(top.nodes) > 0 {
		top.err = nil
	}
	return top
}

// numbers are the names that are numbers, ascending, at most n.
func numbers(names []string, n int) (ns []uint32) {
	for _, s := range names {
		if v, err := strconv.ParseUint(s, 10, 32); err == nil && strconv.FormatUint(v, 10) == s {
			ns = append(ns, uint32(v))
		}
	}
	slices.Sort(ns)
	return ns[:min(len(ns), n)]
}

func (k *compute) node(number uint32) (*node, error) {
	dir := fmt.Sprintf("%s/%d", kfdNodes, number)
	id, err := k.tree.number(dir + "/gpu_id")
	if err != nil {
		return nil, err
	}
	n := &node{number: number, gpuID: id}
	if n.props, err = k.tree.properties(dir + "/properties"); err != nil {
		return nil, err
	}
	for _, kind := range []string{"io_links", "p2p_links"} {
		names, err := k.tree.list(dir + "/" + kind)
		if err != nil {
			continue
		}
		for _, l := range numbers(names, maxLinks) {
			p, err := k.tree.properties(fmt.Sprintf("%s/%s/%d/properties", dir, kind, l))
			if err == nil {
				n.links = append(n.links, ioLink{to: uint32(p["node_to"]), peer: kind == "p2p_links", props: p})
			}
		}
	}
	return n, nil
}

func (t tree) properties(name string) (m map[string]uint64, err error) {
	err = t.with(name, maxText, func(b []byte) error {
		m = properties(b)
		return nil
	})
	return m, err
}

// bdf is the PCI address of a GPU's node.
func (n *node) bdf() smi.BDF {
	loc := n.props["location_id"]
	return smi.BDF{
		Domain: uint32(n.props["domain"]), Bus: uint8(loc >> 8), Device: uint8(loc >> 3 & 31), Function: uint8(loc & 7),
	}
}

// gpus are the nodes of a card, one for each of its parts. Parts share the card's
// PCI device; the kernel tells them apart by the function, which no card of them
// has itself.
func (top *topology) gpus(bdf smi.BDF) (ns []*node) {
	for _, n := range top.nodes {
		at := n.bdf()
		if n.gpuID != 0 && at.Domain == bdf.Domain && at.Bus == bdf.Bus && at.Device == bdf.Device {
			ns = append(ns, n)
		}
	}
	return ns
}

// node is a node by its number.
func (top *topology) node(number uint32) *node {
	for _, n := range top.nodes {
		if n.number == number {
			return n
		}
	}
	return nil
}

// target is the instruction set: 90402 is gfx942, 90010 gfx90a, 110001 gfx1101.
func (n *node) target() string {
	v := n.props["gfx_target_version"]
	major, minor, step := v/10000, v/100%100, v%100
	if major == 0 || major > 99 || minor > 15 || step > 15 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", major, minor, step)
}

// hipNumber is the number that a HIP program which sees all cards has for a node:
// its place among the GPUs.
func (top *topology) hipNumber(of *node) uint32 {
	i := uint32(0)
	for _, n := range top.nodes {
		if n == of {
			break
		}
		if n.gpuID != 0 {
			i++
		}
	}
	return i
}
