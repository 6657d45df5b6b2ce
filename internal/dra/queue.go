package dra

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

// queue is the controller's queue of pools that are to be looked at. The controller's Update adds all of them, and for each it checks what all have: with
// thousands of pools that is more than there is time for between two looks at the workers. So only those are added that have changed. What the controller
// adds for itself, because a slice was changed by somebody or could not be written, comes in other ways.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]

	mu      sync.Mutex
	changed map[string]bool // nil: all
}

func newQueue() *queue {
	return &queue{TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{Name: "resourceslices"})}
}

// expect says which pools have changed before Update is told of them.
func (q *queue) expect(changed map[string]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = changed
}

// Add implements workqueue.TypedInterface.
func (q *queue) Add(pool string) {
	q.mu.Lock()
	wanted := q.changed == nil || q.changed[pool]
	q.mu.Unlock()
	if wanted {
		q.TypedRateLimitingInterface.Add(pool)
	}
}

// changes are the pools that are there in one of them only, or differ; never nil.
func changes(old, next *resourceslice.DriverResources) map[string]bool {
	changed := map[string]bool{}
	for name, pool := range next.Pools {
		if was, ok := old.Pools[name]; !ok || !equality.Semantic.DeepEqual(&was, &pool) {
			changed[name] = true
		}
	}
	for name := range old.Pools {
		if _, ok := next.Pools[name]; !ok {
			changed[name] = true
		}
	}
	return changed
}
