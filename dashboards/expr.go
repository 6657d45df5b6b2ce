package dashboards

import (
	"fmt"
	"strings"
)

// Selectors. Only gpu_host_info says host, cluster and pool; a hidden variable
// has the instances that these mean, so that Prometheus reads no more series than
// are shown.
const (
	inst = `instance=~"$instance"`
	card = inst + `,gpu=~"$gpu"`
)

// onHost joins the host's name to what has job and instance. With gpu alone, or
// with instance alone, two workers would be mixed up.
func onHost(expr string) string {
	return expr + ` * on (job, instance) group_left (host) gpu_host_info{` + inst + `}`
}

// sumOnHost adds up by labels, the host's name among them.
func sumOnHost(by, expr string) string { return fmt.Sprintf("sum by (%s) (%s)", by, onHost(expr)) }

// rate is per second over what Grafana takes for a step.
func rate(metric, sel string) string { return over(metric, sel, "rate", "$__rate_interval") }

// grown is how much a counter grew in the time that is shown.
func grown(metric, sel string) string { return over(metric, sel, "increase", "$__range") }

func over(metric, sel, function, window string) string {
	return fmt.Sprintf("%s(%s{%s}[%s])", function, metric, sel, window)
}

// quantile is of classic buckets, which every Prometheus has; docs/dashboards.md
// has the form for native histograms.
func quantile(q float64, by, metric, sel string) string {
	labels := "le"
	if by != "" {
		labels = by + ", le"
	}
	return fmt.Sprintf("histogram_quantile(%v, sum by (%s) (%s))", q, labels, rate(metric+"_bucket", sel))
}

// mean is the average of a histogram's values.
func mean(by, metric, sel string) string {
	s, c := rate(metric+"_sum", sel), rate(metric+"_count", sel)
	if by == "" {
		return fmt.Sprintf("sum(%s) / sum(%s)", s, c)
	}
	return fmt.Sprintf("sum by (%s) (%s) / sum by (%s) (%s)", by, s, by, c)
}

// owners is gpu_process_info of the chosen namespaces and pods. A process belongs
// to the pod it runs in, and to that of the remote client it serves: either may be
// chosen.
func owners() string {
	return fmt.Sprintf(`(gpu_process_info{%s,namespace=~"$namespace",pod=~"$pod"} or gpu_process_info{%s,client_namespace=~"$namespace",client_pod=~"$pod"})`, card, card)
}

// ofOwner joins labels of owners to what has gpu and pid.
func ofOwner(expr string, labels ...string) string {
	return fmt.Sprintf("%s * on (job, instance, gpu, pid) group_left (%s) %s", expr, strings.Join(labels, ", "), owners())
}

// whose is ofOwner where namespace and pod are those of the remote client, if
// there is one, and otherwise the process's own.
func whose(expr string, labels ...string) string {
	return fmt.Sprintf("%s * on (job, instance, gpu, pid) group_left (%s) %s", expr, strings.Join(append([]string{"namespace", "pod"}, labels...), ", "), clientFirst(owners()))
}

// clientFirst puts the remote client's namespace and pod in place of the process's own.
func clientFirst(info string) string {
	for _, label := range []string{"namespace", "pod"} {
		info = fmt.Sprintf(`label_replace(%s, "%s", "$1", "client_%s", "(.+)")`, info, label, label)
	}
	return info
}
