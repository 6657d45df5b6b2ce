package otlp

import (
	"fmt"
	"math"
	"net"
	"path"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/smi"
)

// sampled is the flag of W3C Trace Context that all our spans have.
const sampled = 1

// spanOf is one span in OTLP's form; nil for one that makes no sense. What a client says
// about itself may be anything.
func spanOf(s *rpctrace.Span, c *smi.Client, session string) *trace.Span {
	if s.TraceID == [16]byte{} || s.ID == [8]byte{} {
		return nil
	}
	begin, ok := unixNano(s.Start)
	if !ok {
		return nil
	}
	out := &trace.Span{
		TraceId: s.TraceID[:], SpanId: s.ID[:], Flags: sampled, Name: clean(spanName(s), maxKernel),
		StartTimeUnixNano: begin, EndTimeUnixNano: begin + uint64(max(s.Duration, 0)),
	}
	if s.Parent != [8]byte{} {
		out.ParentSpanId = s.Parent[:]
	}
	a := attrs{}
	switch s.Kind {
	case rpctrace.Client:
		out.Kind, a = trace.Span_SPAN_KIND_CLIENT, callOf(s.Op, s.Code)
	case rpctrace.Worker:
		out.Kind, a = trace.Span_SPAN_KIND_SERVER, callOf(s.Op, s.Code)
		host, port, err := net.SplitHostPort(c.Address)
		if err != nil {
			host = c.Address
		}
		a = a.str("client.address", host)
		if n, err := strconv.Atoi(port); err == nil && host != "" {
			a = a.num("client.port", int64(n))
		}
		a = a.client(c)
	default:
		out.Kind = trace.Span_SPAN_KIND_INTERNAL
	}
	a = a.str("rocwire.session.id", session)
	out.Attributes = protoAttrs(append(a, hipAttrs(s)...))
	if failed(s.Code) {
		out.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: clean(s.Code, maxValue)}
	}
	return out
}

func spanName(s *rpctrace.Span) string {
	switch {
	case s.Kind == rpctrace.Kernel && s.Kernel != "":
		return s.Kernel
	case s.Op != "":
		return s.Op
	}
	return "other"
}

// hipAttrs say what the call was about.
func hipAttrs(s *rpctrace.Span) attrs {
	a := attrs{}
	if s.Kind == rpctrace.Kernel {
		if s.Device >= 0 {
			a = a.num("hip.device.index", int64(s.Device))
		}
		a = a.str("hip.stream", fmt.Sprintf("0x%x", s.Stream))
	}
	if s.Kernel != "" {
		a = append(a, attribute.String("hip.kernel.name", clean(s.Kernel, maxKernel)))
	}
	if s.Grid != [3]uint32{} {
		a = append(a, dims("hip.kernel.grid", s.Grid))
	}
	if s.Block != [3]uint32{} {
		a = append(a, dims("hip.kernel.block", s.Block))
	}
	if s.Bytes > 0 {
		a = a.num("hip.bytes", int64(min(s.Bytes, math.MaxInt64)))
	}
	return a
}

func dims(key string, d [3]uint32) attribute.KeyValue {
	return attribute.Int64Slice(key, []int64{int64(d[0]), int64(d[1]), int64(d[2])})
}

// unixNano is a time as OTLP has it; not those before 1970 and after 2262, which have no
// such number.
func unixNano(t time.Time) (uint64, bool) {
	if s := t.Unix(); s <= 0 || s >= math.MaxInt64/int64(time.Second) {
		return 0, false
	}
	return uint64(t.UnixNano()), true
}

// clientResource is the program whose calls they are.
func clientResource(c *smi.Client) attrs {
	name := path.Base(c.Executable)
	if c.Executable == "" {
		name = "unknown_service"
	}
	return attrs{}.str("service.name", name).str("host.name", c.Host).pid("process.pid", c.PID).str("process.executable.path", c.Executable).
		str("process.executable.name", name).str("process.owner", c.User).str("container.name", c.Container).str("k8s.pod.name", c.Pod).
		str("k8s.namespace.name", c.Namespace)
}

// protoAttrs are attributes in OTLP's form.
func protoAttrs(a []attribute.KeyValue) []*common.KeyValue {
	out := make([]*common.KeyValue, 0, len(a))
	for _, k := range a {
		v := &common.AnyValue{}
		switch k.Value.Type() {
		case attribute.INT64:
			v.Value = &common.AnyValue_IntValue{IntValue: k.Value.AsInt64()}
		case attribute.INT64SLICE:
			list := &common.ArrayValue{}
			for _, n := range k.Value.AsInt64Slice() {
				list.Values = append(list.Values, &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}})
			}
			v.Value = &common.AnyValue_ArrayValue{ArrayValue: list}
		default:
			v.Value = &common.AnyValue_StringValue{StringValue: k.Value.String()}
		}
		out = append(out, &common.KeyValue{Key: string(k.Key), Value: v})
	}
	return out
}
