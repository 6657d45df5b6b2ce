package randomc

import (
	"context"
	"errors"
)

// Reduce leaves out of a program, which fails on the target, what the failure does not need: kernels, statements, what is around statements.
// It ends early when the context does.
func (c *Checker) Reduce(ctx context.Context, p *Program, t Target) {
	fails := func() bool {
		var f *Failure
		return ctx.Err() == nil && errors.As(c.Check(ctx, p, t), &f)
	}
	for i := 0; i < len(p.Kernels) && len(p.Kernels) > 1; {
		all := p.Kernels
		p.Kernels = append(append([]*Kernel{}, all[:i]...), all[i+1:]...)
		if !fails() {
			p.Kernels = all
			i++
		}
	}
	for again := true; again && ctx.Err() == nil; {
		again = false
		for _, k := range p.Kernels {
			again = reduce(&k.text, fails) || again
		}
	}
}

// reduce leaves statements of a list out: many at once first, then one by one, then parts of those that stay.
func reduce(list *[]*stmt, fails func() bool) (changed bool) {
	left := func() (s []*stmt) {
		for _, x := range *list {
			if !x.off && !x.fixed {
				s = append(s, x)
			}
		}
		return s
	}
	for n := len(left()); n > 0; n /= 2 {
		some := left()
		for i := 0; i < len(some); i += n {
			part := some[i:min(i+n, len(some))]
			set := func(off bool) {
				for _, s := range part {
					s.off = off
				}
			}
			if set(true); fails() {
				changed = true
			} else {
				set(false)
			}
		}
	}
	for i := 0; i < len(*list); i++ {
		s := (*list)[i]
		if s.off {
			continue
		}
		for _, inner := range []*[]*stmt{&s.first, &s.second} {
			if len(*inner) > 0 {
				changed = reduce(inner, fails) || changed
			}
		}
	}
	return changed
}
