// Package dra hands the cards of workers to pods by Kubernetes' Dynamic Resource Allocation (resource.k8s.io/v1): what the driver publishes of them, and
// what it does on the node of a pod whose claim was allocated some.
//
// A worker is a pool of which every node can reach the devices. Nothing here schedules: Kubernetes' scheduler allocates, by the attributes and capacities
// of the cards and by the taints that their troubles are.
package dra

// Driver is the driver's name, and the domain of the attributes.
const Driver = "rocwire.io"

// Capacities of a card.
const (
	CapacityMemory = "memory"
	CapacityShare  = "share" // percent of its time
)
