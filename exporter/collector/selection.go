package collector

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Patterns are globs of metric names, as a shell has them. It is the value of a flag: globs with commas between them, added to those that are there.
type Patterns []string

// String is what Set takes.
func (p *Patterns) String() string { return strings.Join(*p, ",") }

// Set implements flag.Value.
func (p *Patterns) Set(s string) error {
	list := Patterns(strings.Split(s, ","))
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if err := list.check(); err != nil {
		return err
	}
	*p = append(*p, list...)
	return nil
}

func (p Patterns) check() error {
	for _, g := range p {
		if _, err := path.Match(g, ""); err != nil || g == "" {
			return fmt.Errorf("exporter: %q is no pattern of metric names; gpu_* is one, and hip_rpc_duration_seconds", g)
		}
	}
	return nil
}

func (p Patterns) match(name string) bool {
	return slices.ContainsFunc(p, func(glob string) bool {
		ok, _ := path.Match(glob, name)
		return ok
	})
}

// serves reports whether a metric is served: with any to allow, it is one of these; it is none of those to deny.
func (o *Options) serves(name string) bool {
	return (len(o.Allow) == 0 || o.Allow.match(name)) && !o.Deny.match(name)
}

// hidden are our own metrics that are not served, by their id; nil if all are.
func (o *Options) hidden() []bool {
	if len(o.Allow)+len(o.Deny) == 0 {
		return nil
	}
	h := make([]bool, len(metrics))
	for _, m := range metrics {
		h[m.id] = !o.serves(m.name)
	}
	return h
}
