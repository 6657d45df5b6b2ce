package otlp

import (
	"crypto/sha1"
	"fmt"
	"os"
	"runtime"
	"strings"

	"go.opentelemetry.io/otel/sdk"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rocwire/rocwire/internal/outbound"
)

// kube is what the environment says about this program's pod, as a manifest's downward
// API gives it.
type kube struct{ node, namespace, pod, uid, container, cluster string }

func (k *kube) read(get func(string) string) {
	first := func(to *string, keys ...string) {
		for _, key := range keys {
			if v := get(key); v != "" {
				*to = v
				return
			}
		}
	}
	first(&k.node, "K8S_NODE_NAME", "KUBE_NODE_NAME", "NODE_NAME")
	first(&k.namespace, "K8S_NAMESPACE_NAME", "POD_NAMESPACE")
	first(&k.pod, "K8S_POD_NAME", "POD_NAME")
	first(&k.uid, "K8S_POD_UID", "POD_UID")
	first(&k.container, "K8S_CONTAINER_NAME", "CONTAINER_NAME")
	first(&k.cluster, "K8S_CLUSTER_NAME", "CLUSTER_NAME")
}

// machine is what identifies the computer this runs on.
type machine struct{ host, id string }

// thisMachine reads them. A machine without an id has none.
func thisMachine() (m machine) {
	m.host, _ = os.Hostname()
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if b, err := outbound.ReadFile(path, 256); err == nil && len(strings.TrimSpace(string(b))) > 0 {
			m.id = strings.TrimSpace(string(b))
			break
		}
	}
	return m
}

// resource is who sends the metrics. Neither process.pid nor process.executable.name is
// in it: points of processes on a GPU have these, and receivers that write the
// resource's attributes to every point would confuse the two.
func (o *Options) resource(m machine) *resource.Resource {
	a := attrs{}.str("service.name", o.Service).str("service.version", o.Version).str("service.instance.id", o.instance(m)).
		str("telemetry.sdk.name", "opentelemetry").str("telemetry.sdk.language", "go").str("telemetry.sdk.version", sdk.Version()).
		str("process.runtime.name", runtime.Compiler).str("process.runtime.version", runtime.Version()).
		str("host.arch", runtime.GOARCH).str("os.type", runtime.GOOS)
	host, id := m.host, m.id
	if h := o.Place.Host; h != "" && h != host {
		host, id = h, "" // the GPUs are elsewhere
	}
	a = a.str("host.name", host).str("host.id", id).str("rocwire.pool", o.Place.Pool)
	k, cluster := &o.kube, o.Place.Cluster
	if cluster == "" {
		cluster = k.cluster
	}
	a = a.str("k8s.cluster.name", cluster).str("k8s.node.name", k.node).str("k8s.namespace.name", k.namespace).
		str("k8s.pod.name", k.pod).str("k8s.pod.uid", k.uid).str("k8s.container.name", k.container)
	for _, x := range o.Attributes { // the last of a key counts
		a = a.str(x.Key, x.Value)
	}
	return resource.NewWithAttributes(semconv.SchemaURL, a...)
}

// instanceSpace is the namespace that the conventions give for service.instance.id.
var instanceSpace = [16]byte{0x4d, 0x63, 0x00, 0x9a, 0x8d, 0x0f, 0x11, 0xee, 0xaa, 0xd7, 0x4c, 0x79, 0x6e, 0xd8, 0xe3, 0x20}

// instance is the same after a restart, so that series go on, and different for each
// program of a machine.
func (o *Options) instance(m machine) string {
	if o.InstanceID != "" {
		return o.InstanceID
	}
	where := m.id
	if where == "" {
		where = m.host
	}
	if k := &o.kube; k.pod != "" {
		where = strings.Join([]string{k.namespace, k.pod, k.container}, ".")
	}
	return uuid5(instanceSpace, strings.Join([]string{where, o.Service, o.Instance}, "\x00"))
}

// uuid5 is the name-based UUID of RFC 9562, 5.5.
func uuid5(space [16]byte, name string) string {
	h := sha1.Sum(append(space[:], name...))
	u := h[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
