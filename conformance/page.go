package main

import (
	"bytes"
	"os"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const pageIntro = `# What runs on the simulated card

Test programs of the software that people run on AMD's GPUs, from Debian's packages and unmodified, through the drop-in ` + "`libamdhip64.so.6`" + ` and a worker with a simulated card.
` + "`go run ./conformance -only NAME`" + ` runs them ([how](development.md)), and ` + "`-rewrite`" + ` makes this page of what it saw.

*Cases* is how many the programs have, *not run* how many of them nobody has tried here yet: the cases that were run were drawn at random. A case that was still working at its time limit was ended, and is
counted as that, not as passed. *Skip themselves* is the program's own word, mostly for want of memory. A case that ran more than once counts as it ended last. The machine had two cores and other work to do.

`

// rewritePage makes the page of all results.
func rewritePage(o *options, path string) error {
	cases, err := o.results.Read()
	if err != nil {
		return err
	}
	notes := map[string]string{}
	for _, s := range suites {
		notes[s.title] = s.note
	}
	var b bytes.Buffer
	if err := results.Page(&b, pageIntro, cases, notes); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
