package main

// coverageMD is docs/smi-coverage.md.
func coverageMD(t *Table) string {
	o := &out{}
	var yes, no []*Function
	for _, f := range t.Functions {
		if t.answered(f) {
			yes = append(yes, f)
		} else {
			no = append(no, f)
		}
	}
	o.p("<!-- %s -->", said)
	o.p("# What libamd_smi.so.27 answers\n")
	o.p("Of the %d functions that AMD SMI 27.1 exports, %d are answered from the source (a worker, the local card or a simulated one), as far as", len(t.Functions), len(yes))
	o.p("the source knows; the other %d say AMDSMI_STATUS_NOT_SUPPORTED, as the vendor's library does where a machine lacks the thing.", len(no))
	o.p("A figure that the source does not have is AMDSMI_STATUS_NOT_SUPPORTED too, or the sentinel that the vendor's struct has for it.\n")
	o.p("## Answered\n\n| function | | where |\n|---|---|---|")
	for _, f := range yes {
		w := t.written[goFunc(f.Name)]
		o.p("| `%s` | %s | [%[3]s](../smiabi/%[3]s) |", f.Name, w.says, w.file)
	}
	o.p("\n## Not supported\n")
	for _, f := range no {
		o.p("* `%s`", f.Name)
	}
	return o.String()
}
