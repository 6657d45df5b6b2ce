package main

import (
	"fmt"
	"time"
)

// programs counts how the programs of a part have ended, and says it of each.
type programs struct {
	passed, failed int
	began          time.Time
}

func newPrograms() *programs { return &programs{began: time.Now()} }

// ended tells of one that ran on something since start; why is "" if all was as it should be.
func (p *programs) ended(on, name, why string, start time.Time) {
	verdict := "passed"
	if why == "" {
		p.passed++
	} else {
		verdict = "FAILED"
		p.failed++
	}
	fmt.Printf("%-10s %-40s %s %6.1f s\n", on, name, verdict, time.Since(start).Seconds())
	if why != "" {
		fmt.Printf("    %s\n", why)
	}
}

// done tells of all of them.
func (p *programs) done(what string) {
	fmt.Printf("%s: %d passed, %d failed, %.0f s\n", what, p.passed, p.failed, time.Since(p.began).Seconds())
}
