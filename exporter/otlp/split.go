package otlp

import "go.opentelemetry.io/otel/sdk/metric/metricdata"

// maxPoints is how many points one request has at most. With all that is known about a
// process that is about half a MiB; what encoding needs meanwhile is some ten times that.
const maxPoints = 1000

// split divides metrics into parts of at most n points each.
func split(rm *metricdata.ResourceMetrics, n int) []*metricdata.ResourceMetrics {
	var parts []*metricdata.ResourceMetrics
	room := 0
	for _, sm := range rm.ScopeMetrics {
		fresh := true // the part under way has no metrics of this scope yet
		for _, m := range sm.Metrics {
			for from, total := 0, pointsOf(m.Data); from < total; {
				if room == 0 {
					parts = append(parts, &metricdata.ResourceMetrics{Resource: rm.Resource})
					room, fresh = n, true
				}
				part := parts[len(parts)-1]
				if fresh {
					part.ScopeMetrics = append(part.ScopeMetrics, metricdata.ScopeMetrics{Scope: sm.Scope})
					fresh = false
				}
				to := min(total, from+room)
				piece := m
				piece.Data = slice(m.Data, from, to)
				scope := &part.ScopeMetrics[len(part.ScopeMetrics)-1]
				scope.Metrics = append(scope.Metrics, piece)
				room -= to - from
				from = to
			}
		}
	}
	return parts
}

func count(rm *metricdata.ResourceMetrics) (n int) {
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			n += pointsOf(m.Data)
		}
	}
	return n
}

// pointsOf is how many points one metric has.
func pointsOf(d metricdata.Aggregation) int {
	switch d := d.(type) {
	case metricdata.Gauge[int64]:
		return len(d.DataPoints)
	case metricdata.Gauge[float64]:
		return len(d.DataPoints)
	case metricdata.Sum[int64]:
		return len(d.DataPoints)
	case metricdata.Sum[float64]:
		return len(d.DataPoints)
	case metricdata.Histogram[float64]:
		return len(d.DataPoints)
	case metricdata.ExponentialHistogram[float64]:
		return len(d.DataPoints)
	}
	return 0
}

// slice is some of a metric's points.
func slice(d metricdata.Aggregation, from, to int) metricdata.Aggregation {
	switch d := d.(type) {
	case metricdata.Gauge[int64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	case metricdata.Gauge[float64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	case metricdata.Sum[int64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	case metricdata.Sum[float64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	case metricdata.Histogram[float64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	case metricdata.ExponentialHistogram[float64]:
		d.DataPoints = d.DataPoints[from:to]
		return d
	}
	return d
}
