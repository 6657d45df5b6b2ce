package otlp

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/smi"
)

// maxValue bounds an attribute's value in bytes, maxKernel the name of a kernel: those
// of C++ templates are long, and cut they are not found again.
const (
	maxValue  = 256
	maxKernel = 1024
)

// clean makes valid UTF-8 of a name and cuts it; protobuf takes nothing else.
func clean(s string, limit int) string {
	if len(s) <= limit && utf8.ValidString(s) {
		return s
	}
	if len(s) > 4*limit {
		s = s[:4*limit]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}

// attrs are attributes that are being put together. What is empty is left out.
type attrs []attribute.KeyValue

func (a attrs) str(key, v string) attrs {
	if v == "" {
		return a
	}
	return append(a, attribute.String(key, clean(v, maxValue)))
}

func (a attrs) num(key string, v int64) attrs {
	return append(a, attribute.Int64(key, v))
}

// pid adds the number of a process; 0 is not known.
func (a attrs) pid(key string, v uint32) attrs {
	if v == 0 {
		return a
	}
	return a.num(key, int64(v))
}

// set is these and more attributes; a stays as it is.
func (a attrs) set(more ...attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(append(make(attrs, 0, len(a)+len(more)), a...), more...)...)
}

// Attributes of whom a figure belongs to.
var (
	clientAttrs = []string{
		"rocwire.client.host", "rocwire.client.pid", "rocwire.client.executable", "rocwire.client.user",
		"rocwire.client.container", "rocwire.client.pod", "rocwire.client.namespace", "rocwire.client.job",
	}
	containerAttrs = []string{"container.id", "k8s.container.name", "k8s.pod.name", "k8s.pod.uid", "k8s.namespace.name"}
)

// client adds who a remote client is.
func (a attrs) client(c *smi.Client) attrs {
	if c == nil {
		return a
	}
	return a.str("rocwire.client.host", c.Host).pid("rocwire.client.pid", c.PID).str("rocwire.client.executable", c.Executable).
		str("rocwire.client.user", c.User).str("rocwire.client.container", c.Container).str("rocwire.client.pod", c.Pod).
		str("rocwire.client.namespace", c.Namespace).str("rocwire.client.job", c.Job)
}

// container adds what a process of this machine runs in.
func (a attrs) container(c *smi.Container) attrs {
	if c == nil {
		return a
	}
	return a.str("container.id", c.ID).str("k8s.container.name", c.Name).str("k8s.pod.name", c.Pod).str("k8s.pod.uid", c.PodUID).
		str("k8s.namespace.name", c.Namespace)
}

func kv(key, v string) attribute.KeyValue { return attribute.String(key, clean(v, maxValue)) }
