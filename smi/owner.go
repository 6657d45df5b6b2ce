package smi

// Owner is somebody whom a card was given to: a container of Kubernetes or a job of Slurm.
type Owner struct {
	Source string // one of the Owner… constants

	Pod, Namespace, Container string // OwnerKubelet

	JobID, JobUser, JobPartition string // OwnerSlurm
}

// Who told of an owner.
const (
	OwnerKubelet = "kubelet" // the node's kubelet: what the card was allocated to, whether it is used or not
	OwnerSlurm   = "slurm"   // a process on the card is part of the job
)

// Owners knows whom cards were given to.
type Owners interface {
	// Owners is whom each card was given to, by its index. It answers at once, from memory.
	Owners() map[int][]Owner
}

// OwnersOf is the Owners behind src, found like InjectorOf's; nil if there is none.
func OwnersOf(src Source) Owners {
	o, _ := behind[Owners](src)
	return o
}
