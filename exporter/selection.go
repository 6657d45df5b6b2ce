package exporter

import (
	"fmt"
	"path"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// selection says which metrics are served, by globs of their names as a shell has them.
type selection struct{ allow, deny []string }

// newSelection checks the globs.
func newSelection(allow, deny []string) (selection, error) {
	for _, g := range slices.Concat(allow, deny) {
		if _, err := path.Match(g, ""); err != nil || g == "" {
			return selection{}, fmt.Errorf("exporter: %q is no pattern of metric names; gpu_* is one, and hip_rpc_duration_seconds", g)
		}
	}
	return selection{allow, deny}, nil
}

// has reports whether a metric is served: with any to allow, it is one of these; it is none of those to deny.
func (s *selection) has(name string) bool {
	is := func(glob string) bool {
		ok, _ := path.Match(glob, name)
		return ok
	}
	return (len(s.allow) == 0 || slices.ContainsFunc(s.allow, is)) && !slices.ContainsFunc(s.deny, is)
}

// hidden are our own metrics that are not served, by their id; nil if all are.
func (s *selection) hidden() []bool {
	if len(s.allow)+len(s.deny) == 0 {
		return nil
	}
	h := make([]bool, len(metrics))
	for _, m := range metrics {
		h[m.id] = !s.has(m.name)
	}
	return h
}

// of are those of a list that are served.
func (s *selection) of(list []*dto.MetricFamily) []*dto.MetricFamily {
	return slices.DeleteFunc(list, func(f *dto.MetricFamily) bool { return !s.has(f.GetName()) })
}

// patterns is a flag's value: globs with commas between them, added to those that are there.
type patterns struct{ list *[]string }

func (p patterns) String() string {
	if p.list == nil {
		return ""
	}
	return strings.Join(*p.list, ",")
}

func (p patterns) Set(s string) error {
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if _, err := newSelection(list, nil); err != nil {
		return err
	}
	*p.list = append(*p.list, list...)
	return nil
}
