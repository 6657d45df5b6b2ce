package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// row is what something costs at one size of the fleet. What is 0 was not measured.
type row struct {
	subject   string
	workers   int
	time      time.Duration // that it takes
	processor time.Duration // of the program that is measured
	asked     time.Duration // of all workers together
	memory    int64         // bytes
	bytes     int64         // that come over the network, or are read
	note      string
}

// report is all that was measured.
type report struct {
	rows   []row
	limits []string        // in the order in which they were met
	met    map[string]bool // subjects that have one
	ended  map[string]bool // those of them that are not measured any further
	log    io.Writer       // for progress; nil: none
}

func newReport(log io.Writer) *report {
	return &report{met: map[string]bool{}, ended: map[string]bool{}, log: log}
}

func (r *report) say(format string, args ...any) {
	if r.log != nil {
		fmt.Fprintf(r.log, format+"\n", args...)
	}
}

func (r *report) add(x row) {
	r.rows = append(r.rows, x)
	if r.log != nil {
		w := tabwriter.NewWriter(r.log, 24, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%d workers\t%s\t", x.workers, x.subject)
		x.print(w)
		_ = w.Flush() // of a terminal
	}
}

func (x *row) print(w io.Writer) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", milliseconds(x.time), milliseconds(x.processor), milliseconds(x.asked), megabytes(x.memory), megabytes(x.bytes), x.note)
}

// end notes where something ends: it is not measured any further.
func (r *report) end(subject string, workers int, format string, args ...any) {
	r.limit(subject, workers, format, args...)
	r.ended[subject] = true
}

// limit notes where something is more than it should be, once.
func (r *report) limit(subject string, workers int, format string, args ...any) {
	if !r.met[subject] {
		r.met[subject] = true
		s := fmt.Sprintf("%s, %d workers: %s", subject, workers, fmt.Sprintf(format, args...))
		r.limits = append(r.limits, s)
		r.say("limit: %s", s)
	}
}

// print shows the curves, one subject after the other.
func (r *report) print(out io.Writer) {
	var subjects []string
	for _, x := range r.rows {
		if !slices.Contains(subjects, x.subject) {
			subjects = append(subjects, x.subject)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "measured\tworkers\ttime\tprocessor\tof workers\tmemory\tdata\t")
	for _, s := range subjects {
		name := s
		for i := range r.rows {
			if r.rows[i].subject == s {
				fmt.Fprintf(w, "%s\t%d\t", name, r.rows[i].workers)
				r.rows[i].print(w)
				name = ""
			}
		}
	}
	_ = w.Flush() // of what is printed to
	if len(r.limits) == 0 {
		fmt.Fprintln(out, "\nNo limit was met.")
		return
	}
	fmt.Fprintln(out, "\nThe first limits met:")
	for _, l := range r.limits {
		fmt.Fprintln(out, "  "+l)
	}
}

func milliseconds(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f MB", float64(n)/1e6)
}
