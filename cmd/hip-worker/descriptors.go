package main

import (
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/worker/admission"
)

// keepDescriptors sees to it that sessions have descriptors whoever else connects: limits are lowered to what this process may open. Go has raised
// that to what the system allows.
func keepDescriptors(l *admission.Limits, sessions, web int, log *slog.Logger) error {
	l.Sessions = sessions
	if err := l.Complete(); err != nil {
		return err
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return err
	}
	have, need := int(min(r.Cur, 1<<30)), l.Descriptors()+web
	enough := l.Fit(have - web)
	if have < need {
		log.Warn("few descriptors: fewer clients can connect at once; raise the limit of open files (ulimit -n, LimitNOFILE=)",
			"limit", have, "needed", need, "startups", l.Strangers.Full, "management", l.Managers, "enough_for_sessions", enough)
	}
	return nil
}
