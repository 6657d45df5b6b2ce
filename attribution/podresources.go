package attribution

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocwire/rocwire/smi"
)

// lister asks a kubelet's PodResources service, version 1: one call, which is a gRPC
// request over HTTP/2 without encryption on a Unix socket. The messages are those of
// k8s.io/kubelet/pkg/apis/podresources/v1. A gRPC library would add some 6 MiB to the
// program for it.
type lister struct {
	path string
	http *http.Client
}

func newLister(path string) *lister {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
		Protocols: &http.Protocols{}, IdleConnTimeout: time.Minute, DisableCompression: true,
	}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &lister{path: path, http: &http.Client{Transport: t}}
}

func (l *lister) close() { l.http.CloseIdleConnections() }

// Headers and trailers of gRPC (its protocol over HTTP/2).
const (
	grpcContent = "application/grpc"
	grpcStatus  = "Grpc-Status"
	grpcMessage = "Grpc-Message"
	grpcPrefix  = 5 // bytes: compressed or not, length
)

// list is every AMD device that a container was given.
func (l *lister) list(ctx context.Context) ([]grant, error) {
	const service = "http://localhost/v1.PodResourcesLister/List"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, service, bytes.NewReader(make([]byte, grpcPrefix))) // an empty message
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", grpcContent)
	req.Header.Set("TE", "trailers")
	if end, ok := ctx.Deadline(); ok {
		req.Header.Set("Grpc-Timeout", strconv.FormatInt(max(1, time.Until(end).Milliseconds()), 10)+"m")
	}
	answer, err := l.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, unwrapURL(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPodAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	status := answer.Trailer.Get(grpcStatus)
	reason := answer.Trailer.Get(grpcMessage)
	if status == "" { // no message, no trailer
		status, reason = answer.Header.Get(grpcStatus), answer.Header.Get(grpcMessage)
	}
	switch {
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", l.path, answer.Status)
	case len(body) > maxPodAnswer:
		return nil, smi.Errorf(smi.ErrBadData, "%s: more than %d bytes", l.path, maxPodAnswer)
	case status != "0":
		return nil, fmt.Errorf("%s: gRPC status %s: %s", l.path, clean(status, 16), clean(reason, 256))
	case len(body) < grpcPrefix || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-grpcPrefix):
		return nil, smi.Errorf(smi.ErrBadData, "%s: not one plain message", l.path)
	}
	grants, ok := parseList(body[grpcPrefix:])
	if !ok {
		return nil, smi.Errorf(smi.ErrBadData, "%s: malformed answer", l.path)
	}
	return grants, nil
}

// unwrapURL leaves out the address that means nothing.
func unwrapURL(err error) error {
	if u, ok := err.(*url.Error); ok {
		return u.Err
	}
	return err
}

// grant is one device that a container was given.
type grant struct {
	owner
	device string
}

// maxGrants bounds what is kept of an answer.
const maxGrants = 1 << 16

// parseList reads a ListPodResourcesResponse. Names that Kubernetes would not give
// are left out.
func parseList(b []byte) (grants []grant, ok bool) {
	ok = fields(b, func(n protowire.Number, pod []byte) bool {
		return n != 1 || parsePod(pod, &grants)
	})
	return grants, ok && len(grants) <= maxGrants
}

// parsePod reads a PodResources: 1 name, 2 namespace, 3 containers.
func parsePod(b []byte, grants *[]grant) bool {
	var pod podName
	var containers [][]byte
	ok := fields(b, func(n protowire.Number, v []byte) bool {
		switch n {
		case 1:
			pod.name = string(v)
		case 2:
			pod.namespace = string(v)
		case 3:
			containers = append(containers, v)
		}
		return true
	})
	for _, c := range containers {
		ok = ok && parseContainer(c, pod, grants)
	}
	return ok
}

// parseContainer reads a ContainerResources: 1 name, 2 devices, 5 dynamic resources.
func parseContainer(b []byte, pod podName, grants *[]grant) bool {
	var name string
	var devices []string
	ok := fields(b, func(n protowire.Number, v []byte) bool {
		switch n {
		case 1:
			name = string(v)
		case 2:
			return parseDevices(v, &devices)
		case 5:
			return parseDynamic(v, &devices)
		}
		return true
	})
	if !isName(pod.name) || !isName(pod.namespace) || !isName(name) {
		return ok
	}
	for _, d := range devices {
		*grants = append(*grants, grant{owner{pod, name}, d})
	}
	return ok && len(*grants) <= maxGrants
}

// parseDevices reads a ContainerDevices: 1 name of the resource, 2 devices' ids.
func parseDevices(b []byte, devices *[]string) bool {
	var resource string
	var ids []string
	ok := fields(b, func(n protowire.Number, v []byte) bool {
		switch n {
		case 1:
			resource = string(v)
		case 2:
			ids = append(ids, string(v))
		}
		return len(ids) <= maxGrants
	})
	if len(resource) > len(resourcePrefix) && resource[:len(resourcePrefix)] == resourcePrefix {
		*devices = append(*devices, ids...)
	}
	return ok
}

// parseDynamic reads a DynamicResource: 4 claims; of each 2 driver, 4 device.
func parseDynamic(b []byte, devices *[]string) bool {
	return fields(b, func(n protowire.Number, claim []byte) bool {
		if n != 4 {
			return true
		}
		var driver, device string
		ok := fields(claim, func(n protowire.Number, v []byte) bool {
			switch n {
			case 2:
				driver = string(v)
			case 4:
				device = string(v)
			}
			return true
		})
		if driver == draDriver {
			*devices = append(*devices, device)
		}
		return ok && len(*devices) <= maxGrants
	})
}

// fields calls f for every field of a message that is text or a message, and skips
// the others. It is false if b is no message, or f is.
func fields(b []byte, f func(protowire.Number, []byte) bool) bool {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return false
		}
		b = b[size:]
		if kind != protowire.BytesType {
			if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
				return false
			}
			b = b[size:]
			continue
		}
		v, size := protowire.ConsumeBytes(b)
		if size < 0 || !f(n, v) {
			return false
		}
		b = b[size:]
	}
	return true
}
