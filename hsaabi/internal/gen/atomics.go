package main

import "strings"

// orders are C's memory orders by the endings of names. What only loads cannot release, what only stores cannot acquire.
var orders = []struct{ ending, order string }{
	{"_relaxed", "RELAXED"}, {"_scacq_screl", "ACQ_REL"}, {"_acq_rel", "ACQ_REL"}, {"_scacquire", "ACQUIRE"}, {"_acquire", "ACQUIRE"},
	{"_screlease", "RELEASE"}, {"_release", "RELEASE"},
}

func orderOf(name string) (stem, order string) {
	for _, x := range orders {
		if stem, ok := strings.CutSuffix(name, x.ending); ok {
			return stem, "__ATOMIC_" + x.order
		}
	}
	return name, ""
}

// atomicsC are the operations on signals and on queues' indexes, which name themselves: the operation, and the memory order. They are macros of
// atomics.h. hsa_signal_cas and exchange return what was there.
func atomicsC(t *Table) string {
	o := &out{}
	o.p(bannerC + "#include \"atomics.h\"\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if f.Returns == "hsa_status_t" || t.inC[f.Name] {
			continue
		}
		stem, order := orderOf(f.Name)
		if order == "" {
			panic("no memory order: " + f.Name)
		}
		macro := strings.ToUpper(strings.TrimPrefix(stem, "hsa_"))
		o.p("%s(%s, %s)", macro, f.Name, order)
	}
	return o.String()
}
