package fleet

import "golang.org/x/sync/errgroup"

// atOnce is how many questions are asked side by side: a fleet of any size takes so many connections and no more.
const atOnce = 256

// SideBySide calls one with 0 to n-1, at most atOnce of them at a time, and returns when all have returned.
func SideBySide(n int, one func(i int)) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error { one(i); return nil })
	}
	_ = g.Wait() // none returns an error
}
