package collector

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("owner", func(*Options) collector { return ownerCollector{} })
}

var (
	allocationInfo = define(gauge, "gpu_allocation_info",
		"Whom the GPU was given to, a series each: source kubelet is a container that Kubernetes allocated it to, whether it is used or not; "+
			"slurm is a job of Slurm with a process on it. The GPU's machine knows it: its own exporter, or its worker, which tells it to exporters elsewhere. "+
			"Of a GPU that does not answer it is who was known last.",
		"gpu", "source", "pod", "namespace", "container", "job_id", "job_user", "job_partition")
	allocationStale = define(gauge, "gpu_allocation_stale_seconds",
		"If whom the GPU was given to could not be asked in time and those known last are shown: how long ago they were, else 0.", "gpu")
)

// ownerCollector says whom cards were given to.
type ownerCollector struct{}

func (ownerCollector) update(v *View, emit *emitter) error {
	for i := range v.Cards {
		d := &v.Cards[i].Snap
		gpu := strconv.Itoa(d.Device.Index)
		if len(d.Owners) > 0 {
			emit.gauge(allocationStale, max(v.Cards[i].OwnersAge.Seconds(), 0), gpu)
		}
		for _, o := range d.Owners {
			emit.gauge(allocationInfo, 1, gpu, o.Source, o.Pod, o.Namespace, o.Container, o.JobID, o.JobUser, o.JobPartition)
		}
	}
	return v.Err
}

// soleOwner is what owners' labels of a card can say: its container if there is one only, its job if there is one only.
func soleOwner(owners []smi.Owner) (sole smi.Owner) {
	containers, jobs := 0, 0
	for _, o := range owners {
		switch o.Source {
		case smi.OwnerKubelet:
			containers++
			sole.Pod, sole.Namespace, sole.Container = o.Pod, o.Namespace, o.Container
		case smi.OwnerSlurm:
			jobs++
			sole.JobID, sole.JobUser, sole.JobPartition = o.JobID, o.JobUser, o.JobPartition
		}
	}
	if containers > 1 {
		sole.Pod, sole.Namespace, sole.Container = "", "", ""
	}
	if jobs > 1 {
		sole.JobID, sole.JobUser, sole.JobPartition = "", "", ""
	}
	return sole
}
