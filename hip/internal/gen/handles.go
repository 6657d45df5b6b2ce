package main

// handlesGo emits the handle types, and what every holder of handles must know of their kinds.
func handlesGo(t *Table) string {
	var o out
	o.p(banner + "package hip\n")
	o.p("// Handles of a runtime's objects. A runtime gives out no handle below 16: the\n// values 0, 1 and 2 have meanings of their own as a Stream.\ntype (")
	for _, h := range t.Handles {
		o.p("\t%s uint64 // %s", h.Go, h.C[0])
	}
	o.p(")\n\n// HandleKind is one of the handle types.\ntype HandleKind uint8\n\n// The kinds of handles.\nconst (")
	for i, h := range t.Handles {
		if i == 0 {
			o.p("\tHandle%s HandleKind = iota", h.Go)
		} else {
			o.p("\tHandle%s", h.Go)
		}
	}
	o.p("\tHandleKinds // how many there are\n)\n\n// handleKinds is what is true of each kind.\nvar handleKinds = [HandleKinds]handleTraits{")
	for _, h := range t.Handles {
		c, _ := constName(h.Wrong)
		o.p("\tHandle%s: {name: %q, wrong: %s, counted: %t, survives: %t},", h.Go, h.Go, c, h.Counted, h.Survives)
	}
	o.p("}")
	return o.String()
}
