// Package results keeps what became of the cases of other people's test programs,
// over many runs: a run adds to a file what it saw, and a page is made of the file.
//
// The file has one JSON object a line, in the order in which things happened. A
// case that ran again counts as it ended last. A line that cannot be read, such as
// the last one of a run that was killed, is left out.
package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Verdict is what became of a case.
type Verdict string

const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // the program itself said so
	Late    Verdict = "late"    // it was still working at its time limit, and was ended
	NotRun  Verdict = "not run" // the program ended before it, or never began
)

// Case is one line of the file: what became of one case, or, with Cases instead of
// a name, how many cases a program has.
type Case struct {
	Suite   string    `json:"suite"`
	Version string    `json:"version"` // of the software
	Target  string    `json:"target"`  // what the simulated card is
	Program string    `json:"program"`
	Name    string    `json:"case,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"`
	Why     string    `json:"why,omitempty"`
	Seconds float64   `json:"seconds,omitempty"`
	Limit   float64   `json:"limit,omitempty"` // seconds that it might have taken
	Cases   int       `json:"cases,omitempty"`
	When    time.Time `json:"when"`
}

// File is a file of results that is added to.
type File struct{ path string }

// Open names the file; it need not be there yet.
func Open(path string) *File { return &File{path} }

// Add adds lines to the file.
func (f *File) Add(cases ...Case) error {
	var lines []byte
	for _, c := range cases {
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		lines = append(append(lines, b...), '\n')
	}
	w, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err := w.Write(lines); err != nil {
		_ = w.Close()
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return w.Close()
}

// Read reads the file: each case once, as it ended last, in the order in which they first appeared.
func (f *File) Read() ([]Case, error) {
	r, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []Case
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c Case
		if json.Unmarshal(in.Bytes(), &c) == nil && c.Suite != "" {
			all = append(all, c)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return Merge(nil, all), nil
}
