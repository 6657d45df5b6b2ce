package tfconnect

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Connection is where a worker is.
type Connection struct {
	Host, Port string // an IP address; a port number
	Worker     string // the name of its pod and a version, for people
}

// errAnswer is an answer that says nothing to anybody.
var errAnswer = errors.New("the operator's answer cannot be used")

// Parse reads "native+IP+PORT+NAME-VERSION".
func Parse(s string) (*Connection, error) {
	parts := strings.Split(s, "+")
	if len(parts) != 4 {
		return nil, fmt.Errorf("%w: %q is not native+IP+PORT+NAME-VERSION", errAnswer, shorten(s))
	}
	if parts[0] != "native" {
		return nil, fmt.Errorf("%w: a %q connection, where only native ones are known", errAnswer, shorten(parts[0]))
	}
	ip, err := netip.ParseAddr(strings.Trim(parts[1], "[]"))
	if err != nil || ip.IsUnspecified() {
		return nil, fmt.Errorf("%w: %q is no IP address", errAnswer, shorten(parts[1]))
	}
	port, err := strconv.ParseUint(parts[2], 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("%w: %q is no port", errAnswer, shorten(parts[2]))
	}
	if parts[3] == "" {
		return nil, fmt.Errorf("%w: the worker has no name", errAnswer)
	}
	return &Connection{Host: ip.String(), Port: strconv.FormatUint(port, 10), Worker: parts[3]}, nil
}

// shorten cuts what is shown of an answer.
func shorten(s string) string { return s[:min(len(s), 128)] }
