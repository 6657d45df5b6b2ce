package graph

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// ID names a graph, a node, an executable graph or a user object: a number that
// nothing in its Space had before.
type ID = uint64

// Hooks are what a Space has done for it. They are called without its lock.
type Hooks struct {
	Free   func(device int32, p hip.Ptr) // memory that no graph has any more
	Forget func(node ID)                 // the node is gone, or has other parameters
}

// Space is all graphs of a process.
type Space struct {
	mu      sync.Mutex
	hooks   Hooks
	last    ID
	graphNo uint32 // numbers that a dot file shows
	nodeNo  uint32
	graphs  map[ID]*Graph
	nodes   map[ID]*node
	execs   map[ID]*Exec
	objects map[ID]*object
	memory  map[hip.Ptr]*allocation
	pools   map[int32]*pool
	later   []func() // for the time without the lock
}

// NewSpace is an empty Space.
func NewSpace(h Hooks) *Space {
	return &Space{hooks: h, graphs: map[ID]*Graph{}, nodes: map[ID]*node{}, execs: map[ID]*Exec{}, objects: map[ID]*object{},
		memory: map[hip.Ptr]*allocation{}, pools: map[int32]*pool{}}
}

// lock takes the lock; done gives it back and does what was left for then.
func (x *Space) lock() { x.mu.Lock() }

func (x *Space) done() {
	later := x.later
	x.later = nil
	x.mu.Unlock()
	for _, f := range later {
		f()
	}
}

// firstID is above every number that a program passes for a handle by mistake.
const firstID = 1 << 20

// id is a new ID. Called with the lock.
func (x *Space) id() ID {
	x.last += 16
	return firstID + x.last
}

// forget has what was shown of a node forgotten. Called with the lock.
func (x *Space) forget(n *node) {
	if x.hooks.Forget != nil {
		x.later = append(x.later, func() { x.hooks.Forget(n.id) })
	}
}

// HasMemory says whether an address may be a graph's.
func (x *Space) HasMemory() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.memory) > 0
}

// Size is how many graphs and nodes there are that a program can name.
func (x *Space) Size() (graphs, nodes int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.graphs), len(x.nodes)
}
