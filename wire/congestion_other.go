//go:build !linux

package wire

import "syscall"

// ListenControl is for a net.ListenConfig: nothing needs to be chosen here.
func ListenControl(string, string, syscall.RawConn) error { return nil }
