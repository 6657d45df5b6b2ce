package graph

import (
	"math"

	"github.com/rocwire/rocwire/hip"
)

// object is a hipUserObject_t: something of the program's that lives as long as
// somebody holds a reference to it.
type object struct {
	id      ID
	destroy func()
	refs    uint64
	graphs  map[*Graph]bool // that hold some of them
}

// CreateObject is hipUserObjectCreate; destroy is called when the last
// reference is given back.
func (x *Space) CreateObject(destroy func(), refs uint32, flags uint32) (ID, hip.Error) {
	if destroy == nil || flags != uint32(hip.UserObjectNoDestructorSync) || refs == 0 || refs > math.MaxInt32 {
		return 0, hip.ErrorInvalidValue
	}
	x.lock()
	defer x.done()
	o := &object{id: x.id(), destroy: destroy, refs: uint64(refs), graphs: map[*Graph]bool{}}
	x.objects[o.id] = o
	return o.id, hip.Success
}

// count checks a number of references.
func count(n uint32) bool { return n != 0 && n <= math.MaxInt32 }

// release takes n references, or all there are, from an object. Called with the lock.
func (x *Space) release(o *object, n uint64) {
	if o.refs == 0 {
		return
	}
	if o.refs -= min(n, o.refs); o.refs > 0 {
		return
	}
	delete(x.objects, o.id)
	for g := range o.graphs {
		delete(g.objects, o)
	}
	x.later = append(x.later, o.destroy)
}

// retain notes n references as a graph's. Called with the lock.
func (x *Space) retain(g *Graph, o *object, n uint64) {
	if g.objects == nil {
		g.objects = map[*object]uint64{}
	}
	g.objects[o] += n
	o.graphs[g] = true
}

// onObject does f with an object that a program gives n references of, with the lock. An object that is not there is no error, as in AMD's
// library.
func (x *Space) onObject(id ID, n uint32, f func(o *object)) hip.Error {
	if id == 0 || !count(n) {
		return hip.ErrorInvalidValue
	}
	x.lock()
	defer x.done()
	if o := x.objects[id]; o != nil {
		f(o)
	}
	return hip.Success
}

// ReleaseObject is hipUserObjectRelease. Giving back what is not there does
// nothing and is no error, as in AMD's library.
func (x *Space) ReleaseObject(id ID, n uint32) hip.Error {
	return x.onObject(id, n, func(o *object) {
		if o.refs >= uint64(n) {
			x.release(o, uint64(n))
		}
	})
}

// RetainObject is hipUserObjectRetain.
func (x *Space) RetainObject(id ID, n uint32) hip.Error {
	return x.onObject(id, n, func(o *object) { o.refs += uint64(n) })
}

// onHeld does f with a graph and an object of which the graph is to hold n references more or less, with the lock. Again, an object that is not
// there is no error.
func (x *Space) onHeld(graph, id ID, n uint32, f func(g *Graph, o *object)) hip.Error {
	if graph == 0 || id == 0 || !count(n) {
		return hip.ErrorInvalidValue
	}
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return hip.ErrorInvalidValue
	}
	if o := x.objects[id]; o != nil {
		f(g, o)
	}
	return hip.Success
}

// GraphRetainObject is hipGraphRetainUserObject: the graph has n references more,
// new ones or, with hipGraphUserObjectMove, the caller's.
func (x *Space) GraphRetainObject(graph, id ID, n, flags uint32) hip.Error {
	move := flags == uint32(hip.GraphUserObjectMove)
	if flags != 0 && !move {
		return hip.ErrorInvalidValue
	}
	return x.onHeld(graph, id, n, func(g *Graph, o *object) {
		if !move {
			o.refs += uint64(n)
		}
		x.retain(g, o, uint64(n))
	})
}

// GraphReleaseObject is hipGraphReleaseUserObject.
func (x *Space) GraphReleaseObject(graph, id ID, n uint32) hip.Error {
	return x.onHeld(graph, id, n, func(g *Graph, o *object) {
		have, ok := g.objects[o]
		if !ok || o.refs < uint64(n) {
			return
		}
		if have > uint64(n) {
			g.objects[o] = have - uint64(n)
		} else {
			delete(g.objects, o)
			delete(o.graphs, g)
		}
		x.release(o, uint64(n))
	})
}
