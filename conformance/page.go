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

Not here: hipBLASLt's tests, whose data Debian does not have.

`

// keptResults are what the page is made of.
const keptResults = "conformance/runs.tsv"

// rewritePage adds what was seen here to the results that are kept, and makes the page of all of them.
func rewritePage(o *options, path string) error {
	kept, err := results.Kept(keptResults)
	if err != nil {
		return err
	}
	cases, err := o.results.Read()
	if err != nil {
		return err
	}
	if err := results.Keep(keptResults, results.Merge(kept, cases)); err != nil {
		return err
	}
	page, err := runsPage(keptResults)
	if err != nil {
		return err
	}
	return os.WriteFile(path, page, 0o644)
}

// runsPage makes the page of a file of results.
func runsPage(file string) ([]byte, error) {
	cases, err := results.Kept(file)
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	for _, s := range suites {
		notes[s.title] = s.note
	}
	var b bytes.Buffer
	err = results.Page(&b, pageIntro, cases, notes)
	return b.Bytes(), err
}
