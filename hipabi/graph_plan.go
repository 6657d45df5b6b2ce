package hipabi

import "github.com/rocwire/rocwire/hip"

// maxLanes is how many streams one launch of a graph uses at most. More
// branches than that share them, which keeps every dependency.
const maxLanes = 8

// plan is how the nodes of a graph are issued: in which order and on which
// lanes. Lane 0 is the stream that the graph is launched on, the others are
// streams of the executable graph's own.
type plan struct {
	steps []step
	lanes []int32 // the device of each
	marks []int32 // the device of the lane that each event is recorded on
	start int     // the event that is recorded before all steps; none if no lane waits for it
	join  []int   // the events that lane 0 waits for in the end
}

// step is one node on its lane, between the events that other lanes have
// recorded for it and the one that it records for them.
type step struct {
	node  *node
	lane  int
	waits []int
	mark  int
}

// none is no event.
const none = -1

// newPlan lays out nodes, which are in order. A node goes on behind a node that
// it waits for if nothing else has, so that a chain needs no events at all.
func newPlan(nodes []*node, device int32) *plan {
	p := &plan{lanes: []int32{device}, start: none}
	at := make(map[*node]int, len(nodes)) // the step of each node
	last := []int{none}                   // the last step of each lane
	load := []int{0}
	for i, n := range nodes {
		lane := none
		for _, d := range n.after {
			if l := p.steps[at[d]].lane; last[l] == at[d] && p.lanes[l] == n.device {
				lane = l
				break
			}
		}
		if lane == none && last[0] == none && p.lanes[0] == n.device {
			lane = 0
		}
		if lane == none && len(p.lanes) >= maxLanes {
			for l := range p.lanes {
				if p.lanes[l] == n.device && (lane == none || load[l] < load[lane]) {
					lane = l
				}
			}
		}
		if lane == none {
			lane = len(p.lanes)
			p.lanes, last, load = append(p.lanes, n.device), append(last, none), append(load, 0)
		}
		s := step{node: n, lane: lane, mark: none}
		for _, d := range n.after {
			if k := at[d]; p.steps[k].lane != lane {
				s.waits = append(s.waits, p.mark(k))
			}
		}
		if lane != 0 && last[lane] == none && len(n.after) == 0 {
			if p.start == none {
				p.start = p.event(device)
			}
			s.waits = append(s.waits, p.start)
		}
		p.steps = append(p.steps, s)
		at[n], last[lane] = i, i
		load[lane]++
	}
	// What ends a lane and is awaited comes before something that another lane
	// ends with.
	for _, n := range leaves(nodes) {
		if k := at[n]; p.steps[k].lane != 0 && last[p.steps[k].lane] == k {
			p.join = append(p.join, p.mark(k))
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

// issue puts the plan's work on streams, one for each lane, with its events.
func (p *plan) issue(r hip.Runtime, t hip.Thread, streams []hip.Stream, events []hip.Event) hip.Error {
	on := func(lane int) hip.Thread { return hip.Thread{Device: p.lanes[lane], ID: t.ID} }
	if p.start != none {
		if err := r.EventRecord(on(0), events[p.start], streams[0]); err != hip.Success {
			return err
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		for _, w := range s.waits {
			if err := r.StreamWaitEvent(on(s.lane), streams[s.lane], events[w], 0); err != hip.Success {
				return err
			}
		}
		if s.node.run != nil {
			if err := s.node.run(r, on(s.lane), streams[s.lane]); err != hip.Success {
				return err
			}
		}
		if s.mark != none {
			if err := r.EventRecord(on(s.lane), events[s.mark], streams[s.lane]); err != hip.Success {
				return err
			}
		}
	}
	for _, w := range p.join {
		if err := r.StreamWaitEvent(on(0), streams[0], events[w], 0); err != hip.Success {
			return err
		}
	}
	return hip.Success
}
