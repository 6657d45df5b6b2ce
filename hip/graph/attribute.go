package graph

import (
	"math"

	"github.com/rocwire/rocwire/hip"
)

// Attributes are a kernel node's. Which of them was set last is the only one
// that can be read, as in AMD's library.
type Attributes struct {
	Set    hip.LaunchAttributeID // 0: none
	Values [3]hip.LaunchAttributeValue
}

// attribute is the place of an attribute in Values, -1 if it is none.
func attribute(id hip.LaunchAttributeID) int {
	switch id {
	case hip.LaunchAttributeAccessPolicyWindow:
		return 0
	case hip.LaunchAttributeCooperative:
		return 1
	case hip.LaunchAttributePriority:
		return 2
	}
	return -1
}

// window checks an access policy window as it lies in memory. No card has room
// for persisting accesses, so that the only size is 0.
func window(v hip.LaunchAttributeValue) bool {
	ratio, miss, bytes := math.Float32frombits(uint32(v[1]>>32)), hip.AccessProperty(uint32(v[2])), v[3]
	return ratio >= 0 && ratio <= 1 && miss != hip.AccessPropertyPersisting && bytes == 0
}

func (x *Space) kernel(id ID) *node {
	n := x.nodes[id]
	if n == nil || n.params.Type() != hip.GraphNodeTypeKernel {
		return nil
	}
	return n
}

// SetAttribute is hipGraphKernelNodeSetAttribute. AMD's library takes no priority
// whatever: its bounds are the wrong way round.
func (x *Space) SetAttribute(id ID, a hip.LaunchAttributeID, v hip.LaunchAttributeValue) hip.Error {
	x.lock()
	defer x.done()
	n, i := x.kernel(id), attribute(a)
	if n == nil || i < 0 {
		return hip.ErrorInvalidValue
	}
	switch a {
	case hip.LaunchAttributeAccessPolicyWindow:
		if !window(v) {
			return hip.ErrorInvalidValue
		}
	case hip.LaunchAttributePriority:
		return hip.ErrorInvalidValue
	}
	n.attr.Values[i], n.attr.Set = v, a
	return hip.Success
}

// Attribute is hipGraphKernelNodeGetAttribute.
func (x *Space) Attribute(id ID, a hip.LaunchAttributeID) (v hip.LaunchAttributeValue, err hip.Error) {
	x.lock()
	defer x.done()
	n, i := x.kernel(id), attribute(a)
	if n == nil || i < 0 || n.attr.Set != 0 && n.attr.Set != a {
		return v, hip.ErrorInvalidValue
	}
	return n.attr.Values[i], hip.Success
}

// CopyAttributes is hipGraphKernelNodeCopyAttributes.
func (x *Space) CopyAttributes(src, dst ID) hip.Error {
	x.lock()
	defer x.done()
	s, d := x.kernel(src), x.kernel(dst)
	switch {
	case s == nil || d == nil:
		return hip.ErrorInvalidValue
	case s.attr.Set == 0 && d.attr.Set == 0:
		return hip.Success
	case d.attr.Set != 0 && s.attr.Set != d.attr.Set:
		return hip.ErrorInvalidContext
	}
	i := attribute(s.attr.Set)
	d.attr.Values[i], d.attr.Set = s.attr.Values[i], s.attr.Set
	return hip.Success
}

// cooperative says whether a kernel node must have all workgroups resident.
func (a *Attributes) cooperative() bool { return uint32(a.Values[1][0]) != 0 }
