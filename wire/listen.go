package wire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrNotLoopback says that other machines could connect to an address, and nothing would ask them who they are.
var ErrNotLoopback = errors.New("not a loopback address")

// CheckListen refuses an address that other machines can reach, unless insecure allows it. A name must resolve to loopback addresses only.
func CheckListen(host string, insecure bool) error {
	if insecure {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Unmap().IsLoopback() {
			return nil
		}
		return fmt.Errorf("%s: %w; --insecure allows it", host, ErrNotLoopback)
	}
	if host == "" {
		return fmt.Errorf("every address: %w; --insecure allows it", ErrNotLoopback)
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return fmt.Errorf("%s is %s: %w; --insecure allows it", host, ip, ErrNotLoopback)
		}
	}
	return nil
}
