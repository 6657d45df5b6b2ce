package graph

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/rocwire/rocwire/hip"
)

// Dot is what hipGraphDebugDotPrint writes of a graph: its nodes as boxes, in
// more detail for what flags ask for, and its child graphs as boxes of their own.
func (x *Space) Dot(graph ID, flags hip.GraphDebugDotFlags) (string, hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return "", hip.ErrorInvalidValue
	}
	var b strings.Builder
	b.WriteString("digraph dot {\n")
	g.dot(&b, flags)
	b.WriteString("}\n")
	return b.String(), hip.Success
}

func (g *Graph) dot(b *strings.Builder, flags hip.GraphDebugDotFlags) {
	fmt.Fprintf(b, "subgraph cluster_%d {\nlabel=\"graph_%d\"graph[style=\"dashed\"];\n", g.no, g.no)
	for _, n := range g.nodes {
		style := "solid"
		if n.params.Type() == hip.GraphNodeTypeKernel {
			style = "bold"
		}
		shape, label := n.box(flags)
		fmt.Fprintf(b, "\n\"graph_%d_node_%d\"[style=\"%s\"shape=\"%s\"label=\"%s\"];\n", g.no, n.no, style, shape, label)
	}
	b.WriteString("\n")
	for _, n := range g.nodes {
		for _, m := range n.next {
			fmt.Fprintf(b, "\"graph_%d_node_%d\" -> \"graph_%d_node_%d\"\n", g.no, n.no, g.no, m.no)
		}
	}
	b.WriteString("}\n")
	for _, n := range g.nodes {
		if c, ok := n.params.(Child); ok {
			c.graph.dot(b, flags)
		}
	}
}

// box is how a node is drawn.
func (n *node) box(flags hip.GraphDebugDotFlags) (shape, label string) {
	wants := func(f hip.GraphDebugDotFlags) bool { return flags&(f|hip.GraphDebugDotFlagsVerbose) != 0 }
	switch p := n.params.(type) {
	case Kernel:
		switch l := &p.Launch; {
		case wants(hip.GraphDebugDotFlagsKernelNodeParams):
			s := fmt.Sprintf(`\<\<\<(%d,%d,%d),(%d,%d,%d),%d\>\>\>`, l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z, l.SharedMem)
			if flags&hip.GraphDebugDotFlagsVerbose == 0 {
				return "record", fmt.Sprintf("%d\n%s\n%s", n.no, escape(p.Name), s)
			}
			return "record", fmt.Sprintf("{\nKERNEL\n| {ID | %d | %s%s}\n| {{node handle | func handle} | {%#x | %#x}}\n%s}",
				n.no, escape(p.Name), s, n.id, p.Func, n.attr.text())
		case wants(hip.GraphDebugDotFlagsKernelNodeAttributes):
			return "record", fmt.Sprintf("{\nKERNEL\n| {ID | %d | %s}\n%s}", n.no, escape(p.Name), n.attr.text())
		}
		return "octagon", fmt.Sprintf("%d\n%s\n", n.no, escape(p.Name))
	case Memcpy:
		c := &p.Op
		if wants(hip.GraphDebugDotFlagsMemcpyNodeParams) {
			return "record", fmt.Sprintf("{\nMEMCPY\n| {{ID | node handle} | {%d | %#x}}\n| {kind | %s}\n| {{src | dst} | {pitch | ptr | pitch | ptr} | {%d | %v | %d | %v}}\n| {Extent | {{Width | %d} | {Height | %d} | {Depth | %d}}}\n}",
				n.no, n.id, direction(&p), c.SrcPitch, c.Src, c.DstPitch, c.Dst, c.Width, c.Height, c.Depth)
		}
		return "trapezium", fmt.Sprintf("%d\nMEMCPY\n(%s,%d)", n.no, direction(&p), bytesOf(c))
	case Memset:
		if wants(hip.GraphDebugDotFlagsMemsetNodeParams) {
			return "record", fmt.Sprintf("{\nMEMSET\n| {{ID | node handle | dptr | pitch | value | elementSize | width | height | depth} | {%d | %#x | %v | %d | %d | %d | %d | %d | %d}}}",
				n.no, n.id, p.P.Dst, p.P.Pitch, p.P.Value, p.P.ElementSize, p.P.Width, p.P.Height, max(p.Depth, 1))
		}
		return "invtrapezium", fmt.Sprintf("%d\nMEMSET\n(%d,%d)", n.no, p.P.Value, p.P.Width*p.P.Height*max(p.Depth, 1)*uint64(p.P.ElementSize))
	case Child:
		return "rectangle", fmt.Sprintf("%d\ngraph_%d", n.no, p.graph.no)
	case Host:
		if wants(hip.GraphDebugDotFlagsHostNodeParams) {
			return "record", fmt.Sprintf("{\nHOST\n| {{ID | node handle | fn | userData} | {%d | %#x | %v | %v}}}", n.no, n.id, p.P.Fn, p.P.UserData)
		}
	case EventRecord:
		if wants(hip.GraphDebugDotFlagsEventNodeParams) {
			return "record", fmt.Sprintf("{\nEVENT_RECORD\n| {{ID | node handle | event} | {%d | %#x | %#x}}}", n.no, n.id, uint64(p.Event))
		}
	case EventWait:
		if wants(hip.GraphDebugDotFlagsEventNodeParams) {
			return "record", fmt.Sprintf("{\nEVENT_WAIT\n| {{ID | node handle | event} | {%d | %#x | %#x}}}", n.no, n.id, uint64(p.Event))
		}
	}
	return "rectangle", fmt.Sprintf("%d\n%s", n.no, names[n.params.Type()])
}

// names are those of AMD's library for types that have no box of their own.
var names = map[hip.GraphNodeType]string{
	hip.GraphNodeTypeHost: "HOST", hip.GraphNodeTypeEmpty: "EMPTY",
	hip.GraphNodeTypeWaitEvent: "EVENT_WAIT", hip.GraphNodeTypeEventRecord: "EVENT_RECORD",
	hip.GraphNodeTypeExtSemaphoreSignal: "EXTERNAL_SEMAPHORE_SIGNAL", hip.GraphNodeTypeExtSemaphoreWait: "EXTERNAL_SEMAPHORE_WAIT",
	hip.GraphNodeTypeMemAlloc: "MEM_ALLOC", hip.GraphNodeTypeMemFree: "MEM_FREE", hip.GraphNodeTypeBatchMemOp: "BATCH_MEM_OP",
}

func (a *Attributes) text() string {
	w := a.Values[0]
	return fmt.Sprintf("| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | {%v | %d | %f | %d | %d}}\n| {cooperative | %d}\n| {priority | %d}\n",
		hip.Ptr(w[0]), w[3], math.Float32frombits(uint32(w[1]>>32)), uint32(w[1]), uint32(w[2]), uint32(a.Values[1][0]), int32(uint32(a.Values[2][0])))
}

func direction(m *Memcpy) string {
	if x := m.Op.General; x != nil {
		letters := map[hip.MemoryType]string{hip.MemoryTypeHost: "H", hip.MemoryTypeArray: "A"}
		return cmp.Or(letters[x.SrcMemoryType], "D") + "to" + cmp.Or(letters[x.DstMemoryType], "D")
	}
	switch m.Kind {
	case hip.MemcpyHostToDevice:
		return "HtoD"
	case hip.MemcpyDeviceToHost:
		return "DtoH"
	case hip.MemcpyDeviceToDevice, hip.MemcpyDeviceToDeviceNoCU:
		return "DtoD"
	case hip.MemcpyHostToHost:
		return "HtoH"
	}
	return "Default"
}

// bytesOf is how much is copied.
func bytesOf(c *hip.GraphCopy) uint64 {
	if x := c.General; x != nil {
		return x.WidthInBytes * x.Height * x.Depth
	}
	return c.Width * c.Height * c.Depth
}

// escape keeps a kernel's name from ending the string that it stands in: the
// name is whatever a code object says.
func escape(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r < ' ' {
			return '_'
		}
		return r
	}, s)
}
