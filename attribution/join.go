package attribution

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// countsAsHost says whether figures of that origin name processes by the host's
// numbers, whatever namespace they are read in.
func countsAsHost(origin string) bool { return origin == smi.OriginKFD || origin == smi.OriginAMDSMI }

// identify looks who a row's process is.
func (s *Source) identify(p *smi.Process) lookup {
	switch {
	case s.tree == nil || p.PID == 0:
		return lookup{}
	case s.tree.foreign && p.Origin == smi.OriginKFD:
		return lookup{} // some process here may have the same number
	case s.tree.foreign && p.Origin == smi.OriginAMDSMI && !s.tree.usesGPU(p.PID):
		return lookup{} // the library may have translated the number; this one is none of its
	}
	return s.cache.begin(p.PID)
}

// patience is until when somebody who asks now waits.
func (s *Source) patience() time.Time {
	if s.cache == nil {
		return time.Time{}
	}
	return time.Now().Add(s.cache.patience)
}

// join fills in the processes of one card, waits until then for what may hang, and says who they are.
func (s *Source) join(ctx context.Context, ps []smi.Process, until time.Time) []*identity {
	if len(ps) == 0 {
		return nil
	}
	lookups := make([]lookup, len(ps))
	for i := range ps {
		lookups[i] = s.identify(&ps[i])
	}
	ids := make([]*identity, len(ps))
	wanted := false // what the kubelet knows
	pods := map[string]bool{}
	for i := range ps {
		id := s.cache.end(lookups[i], until)
		ids[i] = id
		switch {
		case s.unplaced(id):
			wanted = true
		case id.group.podUID != "":
			wanted = true
			pods[id.group.podUID] = true
		}
	}
	var known *nodePods
	if wanted && s.pods != nil {
		known = s.pods.get(ctx)
	}
	for i := range ps {
		p, id := &ps[i], ids[i]
		if id != nil {
			fill(&p.Name, id.name)
			fill(&p.Command, id.command)
			fill(&p.User, id.user)
			if p.InnerPID == 0 {
				p.InnerPID = id.inner
			}
		}
		found := s.container(p, id, known, len(pods) <= 1)
		if p.Container == nil {
			if found != (smi.Container{}) {
				p.Container = &found
			}
			continue
		}
		c := p.Container // of the source alone, or the same
		if c.ID != "" && found.ID != "" && c.ID != found.ID {
			continue
		}
		fill(&c.ID, found.ID)
		fill(&c.Name, found.Name)
		fill(&c.PodUID, found.PodUID)
		fill(&c.Pod, found.Pod)
		fill(&c.Namespace, found.Namespace)
	}
	return ids
}

// unplaced says whether nobody knows what container a process is in, if any.
func (s *Source) unplaced(id *identity) bool { return id == nil || s.tree.hidden && id.group.root }

// container is what p runs in. onePod says that the processes of its card are of one
// pod at most, as far as that is known.
func (s *Source) container(p *smi.Process, id *identity, known *nodePods, onePod bool) smi.Container {
	var c smi.Container
	if !s.unplaced(id) {
		c.ID, c.PodUID = id.group.container, id.group.podUID
		if c.PodUID == "" {
			return c // it is seen to be in no pod
		}
	}
	if known == nil {
		return c
	}
	owners := known.owners[p.Device]
	if name, ok := known.names[c.PodUID]; ok {
		c.Namespace, c.Pod = name.namespace, name.name
		if of := only(owners, name); of != nil {
			c.Name = of.container
		}
		return c
	}
	// The card was given to one container only. Other pods that are seen on it were not
	// given it (a pod that looks after the node), and which one was cannot be told.
	if len(owners) == 1 && onePod {
		c.Namespace, c.Pod, c.Name = owners[0].namespace, owners[0].name, owners[0].container
	}
	return c
}

// only is the owner that is of this pod, nil if none or several are.
func only(owners []owner, pod podName) *owner {
	var found *owner
	for i := range owners {
		if owners[i].podName == pod {
			if found != nil {
				return nil
			}
			found = &owners[i]
		}
	}
	return found
}

func fill(s *string, v string) {
	if *s == "" {
		*s = v
	}
}

// Join fills in who processes are of whom only the number is known, as it does with
// those of a card. It waits a fraction of a second at most for what may hang.
func (s *Source) Join(ctx context.Context, ps []smi.Process) { s.join(ctx, ps, s.patience()) }
