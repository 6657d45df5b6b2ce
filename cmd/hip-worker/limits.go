package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/worker/admission"
)

// addLimits adds the flags that say how many may come in.
func addLimits(f *flag.FlagSet, l *admission.Limits) {
	for name, n := range map[string]*int{
		"max-sessions-per-address": &l.SessionsPerAddress, "max-sessions-per-user": &l.SessionsPerIdentity, "max-management": &l.Managers,
		"max-management-per-address": &l.ManagersPerAddress, "max-startups-per-address": &l.StrangersPerAddress,
	} {
		f.IntVar(n, name, 0, "")
	}
	f.Func("max-startups", "", func(s string) (err error) {
		l.Strangers, err = admission.ParseStartups(s)
		return err
	})
	f.Func("max-penalty", "", func(s string) error {
		d, err := time.ParseDuration(s)
		if s == "0" || err == nil && d == 0 {
			d, err = -1, nil // 0 is the default
		}
		l.MaxPenalty = d
		return err
	})
}

// checkLimits says what is wrong with them.
func checkLimits(l admission.Limits, sessions int) error {
	l.Sessions = sessions
	if err := l.Complete(); err != nil {
		return fmt.Errorf("--max-…: %w", err)
	}
	return nil
}
