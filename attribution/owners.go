package attribution

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// jobs remembers the jobs whose processes were seen on each card when its processes were last asked for.
type jobs struct {
	mu   sync.Mutex
	seen map[int]seenJobs // by card
}

type seenJobs struct {
	at   time.Time
	jobs []smi.Owner
}

// jobsKeep is how long they count if nobody asks for processes any more.
const jobsKeep = time.Minute

// set notes the jobs of a card's processes, each user's once: of two processes of a job the one may have its user's name and partition already
// and the other not yet.
func (j *jobs) set(card int, ids []*identity) {
	type who struct{ job, uid string }
	at := map[who]int{}
	var list []smi.Owner
	for _, id := range ids {
		if id == nil || id.job.id == "" {
			continue
		}
		w := who{id.job.id, id.uid}
		i, known := at[w]
		if !known {
			i, at[w] = len(list), len(list)
			list = append(list, smi.Owner{Source: smi.OwnerSlurm, JobID: id.job.id, JobUser: id.user})
		}
		o := &list[i]
		if o.JobUser == id.uid {
			o.JobUser = id.user
		}
		if o.JobPartition == "" {
			o.JobPartition = id.job.partition
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen == nil {
		j.seen = map[int]seenJobs{}
	}
	j.seen[card] = seenJobs{time.Now(), list}
}

// of is all jobs by card.
func (j *jobs) of() map[int][]smi.Owner {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := map[int][]smi.Owner{}
	for card, s := range j.seen {
		if time.Since(s.at) > jobsKeep {
			delete(j.seen, card)
			continue
		}
		all[card] = slices.Clone(s.jobs)
	}
	return all
}

// Owners is whom each card was given to, by its index: the containers that the kubelet allocated it to, whether they use it or not, and
// the Slurm jobs whose processes were on it when its processes were last asked for. It answers at once, from memory, and sees to it that
// more is known soon.
func (s *Source) Owners() map[int][]smi.Owner {
	all := s.jobs.of()
	if s.pods != nil {
		if known := s.pods.peek(); known != nil {
			for card, owners := range known.owners {
				for _, o := range owners {
					all[card] = append(all[card], smi.Owner{Source: smi.OwnerKubelet, Pod: o.name, Namespace: o.namespace, Container: o.container})
				}
			}
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b smi.Owner) int {
			return strings.Compare(strings.Join([]string{a.Source, a.Namespace, a.Pod, a.Container, a.JobID, a.JobUser, a.JobPartition}, "\x00"),
				strings.Join([]string{b.Source, b.Namespace, b.Pod, b.Container, b.JobID, b.JobUser, b.JobPartition}, "\x00"))
		})
	}
	return all
}
