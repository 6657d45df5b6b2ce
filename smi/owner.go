package smi

// Owner is somebody whom a card was given to: a container of Kubernetes or a job of Slurm.
type Owner struct {
	Source string `json:"source" msgpack:"s"` // one of the Owner… constants

	// Of OwnerKubelet.
	Pod       string `json:"pod,omitempty" msgpack:"p,omitempty"`
	Namespace string `json:"namespace,omitempty" msgpack:"n,omitempty"`
	Container string `json:"container,omitempty" msgpack:"c,omitempty"`

	// Of OwnerSlurm.
	JobID        string `json:"job_id,omitempty" msgpack:"j,omitempty"`
	JobUser      string `json:"job_user,omitempty" msgpack:"ju,omitempty"`
	JobPartition string `json:"job_partition,omitempty" msgpack:"jp,omitempty"`
}

// Who told of an owner.
const (
	OwnerKubelet = "kubelet" // the node's kubelet: what the card was allocated to, whether it is used or not
	OwnerSlurm   = "slurm"   // a process on the card is part of the job
)

// Owners knows whom cards were given to. What it knows is in snapshots of all sources in front of it.
type Owners interface {
	// Owners is whom each card was given to, by its index. It answers at once, from memory.
	Owners() map[int][]Owner
}

// OwnersOf is the Owners behind src, found like InjectorOf's; nil if there is none.
func OwnersOf(src Source) Owners {
	o, _ := behind[Owners](src)
	return o
}
