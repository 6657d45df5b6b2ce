package executor

import "github.com/rocwire/rocwire/hip"

// maxLanes is how many streams one launch of a graph uses at most. More
// branches than that share them, which keeps every dependency.
const maxLanes = 8

// plan is how the operations of a graph are issued: in their order, and on which
// lanes. Lane 0 is the stream that the graph is launched on, the others are
// streams of the executable graph's own.
type plan struct {
	steps []step
	lanes []int32 // the device of each
	marks []int32 // the device of the lane that each event is recorded on
	start int     // the event that is recorded before all steps; none if no lane waits for it
	join  []int   // the events that lane 0 waits for in the end
}

// step is one operation on its lane, between the events that other lanes have
// recorded for it and the one that it records for them.
type step struct {
	lane  int
	waits []int
	mark  int
}

// none is no event.
const none = -1

// newPlan lays out a graph. An operation goes on behind one that it waits for if
// nothing else has, so that a chain needs no events at all.
func newPlan(d *hip.GraphDesc) *plan {
	p := &plan{lanes: []int32{d.Device}, start: none, steps: make([]step, 0, len(d.Ops))}
	last := []int{none} // the last step of each lane
	load := []int{0}
	awaited := make([]bool, len(d.Ops))
	for i := range d.Ops {
		op := &d.Ops[i]
		lane := none
		for _, a := range op.After {
			awaited[a] = true
			if l := p.steps[a].lane; lane == none && last[l] == int(a) && p.lanes[l] == op.Device {
				lane = l
			}
		}
		if lane == none && last[0] == none && p.lanes[0] == op.Device {
			lane = 0
		}
		if lane == none && len(p.lanes) >= maxLanes {
			for l := range p.lanes {
				if p.lanes[l] == op.Device && (lane == none || load[l] < load[lane]) {
					lane = l
				}
			}
		}
		if lane == none {
			lane = len(p.lanes)
			p.lanes, last, load = append(p.lanes, op.Device), append(last, none), append(load, 0)
		}
		s := step{lane: lane, mark: none}
		for _, a := range op.After {
			if p.steps[a].lane != lane {
				s.waits = append(s.waits, p.mark(int(a)))
			}
		}
		if lane != 0 && last[lane] == none && len(op.After) == 0 {
			if p.start == none {
				p.start = p.event(d.Device)
			}
			s.waits = append(s.waits, p.start)
		}
		p.steps = append(p.steps, s)
		last[lane] = i
		load[lane]++
	}
	// What ends a lane and is awaited comes before something that another lane
	// ends with.
	for i := range d.Ops {
		if l := p.steps[i].lane; !awaited[i] && l != 0 && last[l] == i {
			p.join = append(p.join, p.mark(i))
		}
	}
	return p
}

// mark is the event that step k records.
func (p *plan) mark(k int) int {
	if p.steps[k].mark == none {
		p.steps[k].mark = p.event(p.lanes[p.steps[k].lane])
	}
	return p.steps[k].mark
}

func (p *plan) event(device int32) int {
	p.marks = append(p.marks, device)
	return len(p.marks) - 1
}

func (p *plan) uses(device int32) bool {
	for _, d := range p.lanes {
		if d == device {
			return true
		}
	}
	return false
}
