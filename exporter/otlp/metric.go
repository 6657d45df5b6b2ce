package otlp

// kind is the instrument a metric would have, and the type of its numbers.
type kind int

const (
	gauge      kind = iota // float64
	intGauge               // int64
	counter                // float64, a sum that only grows
	intCounter             // int64
	upDown                 // int64, a sum that may fall
	histogram              // exponential
)

func (k kind) String() string {
	switch k {
	case gauge, intGauge:
		return "Gauge"
	case counter, intCounter:
		return "Counter"
	case upDown:
		return "UpDownCounter"
	}
	return "Histogram"
}

func (k kind) whole() bool { return k == intGauge || k == intCounter || k == upDown }

// metric is one metric. Its attributes are those that points may have.
type metric struct {
	id               int
	kind             kind
	name, unit, help string
	attrs            []string
}

// defined are all metrics, by id.
var defined []*metric

func define(k kind, name, unit, help string, attrs ...[]string) *metric {
	m := &metric{id: len(defined), kind: k, name: name, unit: unit, help: help}
	for _, a := range attrs {
		m.attrs = append(m.attrs, a...)
	}
	defined = append(defined, m)
	return m
}

// with names attributes that only some metrics have.
func with(names ...string) []string { return names }
