package dra

import (
	"errors"
	"fmt"
	"slices"

	resourceapi "k8s.io/api/resource/v1"

	"github.com/rocwire/rocwire/smi"
)

// Errors of claims.
var (
	ErrNotAllocated = errors.New("the claim has not been allocated")
	ErrAdminAccess  = errors.New("administrative access to cards of workers is a token's right, and not a claim's")
)

// share is what one request of a claim has of one worker. It gets a token of its own: a container may be given one request of a claim and no more.
type share struct {
	pool    string
	request string
	devices []string
	quota   smi.Quota // of the programs with the token, on each of the cards
}

// shares groups what was allocated to a claim by request, worker and size, in the order of the results.
func shares(claim *resourceapi.ResourceClaim) (list []share, err error) {
	if claim.Status.Allocation == nil {
		return nil, ErrNotAllocated
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if r.Driver != Driver {
			continue
		}
		if r.AdminAccess != nil && *r.AdminAccess {
			return nil, ErrAdminAccess
		}
		q, err := quotaOf(r)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(s share) bool {
			return s.pool == r.Pool && s.request == r.Request && slices.Contains(s.devices, r.Device)
		}) {
			return nil, fmt.Errorf("request %s has got two shares of one card, %s of worker %s: ask for different ones with the constraint distinctAttribute: %s/uuid",
				r.Request, r.Device, r.Pool, Driver)
		}
		at := slices.IndexFunc(list, func(s share) bool { return s.pool == r.Pool && s.request == r.Request && s.quota == q })
		if at < 0 {
			list = append(list, share{pool: r.Pool, request: r.Request, quota: q})
			at = len(list) - 1
		}
		list[at].devices = append(list[at].devices, r.Device)
	}
	if len(list) > maxShares {
		return nil, fmt.Errorf("the claim has %d shares, and %d is the most", len(list), maxShares)
	}
	return list, nil
}

// maxShares bounds those of a claim: Kubernetes allocates 32 devices to one at most.
const maxShares = resourceapi.AllocationResultsMaxSize

// quotaOf is what a share of a card may use; none for a whole card.
func quotaOf(r *resourceapi.DeviceRequestAllocationResult) (q smi.Quota, err error) {
	for name, v := range r.ConsumedCapacity {
		n, whole := v.AsInt64()
		if !whole || n < 0 {
			return q, fmt.Errorf("%s: %s of %s is no number", r.Device, name, v.String())
		}
		switch name {
		case CapacityMemory, Driver + "/" + CapacityMemory:
			q.Memory = smi.Some(smi.Bytes(n))
		case CapacityShare, Driver + "/" + CapacityShare:
			if n < 100 {
				q.Compute = smi.Some(smi.Percent(float64(n)))
			}
		default:
			return q, fmt.Errorf("%s: a capacity %s is not known", r.Device, name)
		}
	}
	return q, nil
}

// pod is the one that a claim is for; "" if several share it.
func pod(claim *resourceapi.ResourceClaim) string {
	if u := claim.Status.ReservedFor; len(u) == 1 && u[0].APIGroup == "" && u[0].Resource == "pods" {
		return u[0].Name
	}
	return ""
}
