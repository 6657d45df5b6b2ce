//go:build linux

package main

import "log/syslog"

// tell writes to the system's log, where there is one.
func tell(err error) {
	w, e := syslog.New(syslog.LOG_DAEMON|syslog.LOG_ERR, "rocwire-slurm")
	if e != nil {
		return
	}
	defer w.Close()
	_ = w.Err(err.Error())
}
