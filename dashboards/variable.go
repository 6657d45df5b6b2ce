package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// variable is a choice at the top of a board.
type variable struct {
	name, label string
	query       string // what Grafana asks for its options
	desc        string
	result      bool // the query answers samples, of which the label of the variable's name counts
	one         bool // exactly one value; otherwise several, or all
	hidden      bool
	// chained variables mean all of their options when all are chosen; others mean
	// every value, the empty one too.
	chained bool
}

var (
	varCluster  = variable{name: "cluster", label: "Cluster", query: `label_values(gpu_host_info, cluster)`, desc: "As the exporters' operators named it."}
	varHost     = variable{name: "host", label: "Host", query: `label_values(gpu_host_info{cluster=~"$cluster"}, host)`, desc: "The machine that has the GPUs."}
	varInstance = variable{name: "instance", label: "Instance", query: `label_values(gpu_host_info{cluster=~"$cluster",host=~"$host"}, instance)`,
		desc: "The scrape targets of the chosen hosts.", hidden: true, chained: true}
	varGPU       = variable{name: "gpu", label: "GPU", query: `label_values(gpu_info{instance=~"$instance"}, gpu)`, desc: "The GPU's number on its host."}
	varNamespace = variable{name: "namespace", label: "Namespace", result: true, desc: "Of the process's pod or of its remote client's.",
		query: `query_result(count by (namespace) (label_replace(gpu_process_info{instance=~"$instance"}, "namespace", "$1", "client_namespace", "(.+)")))`}
	varPod = variable{name: "pod", label: "Pod", result: true, desc: "The process's pod or its remote client's.",
		query: `query_result(count by (pod) (label_replace(gpu_process_info{instance=~"$instance",namespace=~"$namespace"} or gpu_process_info{instance=~"$instance",client_namespace=~"$namespace"}, "pod", "$1", "client_pod", "(.+)")))`}
	varOp         = variable{name: "op", label: "Function", query: `label_values(hip_rpc_duration_seconds_count{instance=~"$instance"}, op)`, desc: "HIP function."}
	varPool       = variable{name: "pool", label: "Pool", query: `label_values(gpu_host_info{cluster=~"$cluster"}, pool)`, desc: "TensorFusion's pool, or any group of hosts."}
	varPoolInst   = variable{name: "instance", label: "Instance", query: `label_values(gpu_host_info{cluster=~"$cluster",pool=~"$pool"}, instance)`, desc: "The scrape targets of the chosen pools.", hidden: true, chained: true}
	varLocalNS    = variable{name: "namespace", label: "Namespace", query: `label_values(hip_local_process_info{instance=~"$instance"}, namespace)`, desc: "Of the process's pod."}
	varLocalPod   = variable{name: "pod", label: "Pod", query: `label_values(hip_local_process_info{instance=~"$instance",namespace=~"$namespace"}, pod)`, desc: "The process's pod."}
	varLocalOp    = variable{name: "op", label: "Function", query: `label_values(hip_local_calls_total{instance=~"$instance"}, op)`, desc: "HIP function."}
	varSingleHost = single(varHost)
	varSingleGPU  = single(varGPU)
)

func single(v variable) variable {
	v.one = true
	return v
}

// source is the data source that the reader chose.
var source = common.DataSourceRef{Type: ptr("prometheus"), Uid: ptr("${datasource}")}

func text(s string) dashboard.StringOrArrayOfString {
	return dashboard.StringOrArrayOfString{String: &s}
}

func (v *variable) builder() cog.Builder[dashboard.VariableModel] {
	b := dashboard.NewQueryVariableBuilder(v.name).Label(v.label).Description(v.desc).Datasource(source).
		Query(dashboard.StringOrMap{Map: map[string]any{"query": v.query, "refId": "PrometheusVariableQueryEditor-VariableQuery"}}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc)
	if v.hidden {
		b.Hide(dashboard.VariableHideHideVariable)
	}
	if v.result {
		b.Regex(`/` + v.name + `="([^"]*)"/`) // of a sample as Grafana writes it down
	}
	if v.one {
		return b
	}
	b.Multi(true).IncludeAll(true).Current(dashboard.VariableOption{Selected: ptr(true), Text: text("All"), Value: text("$__all")})
	if !v.chained {
		b.AllValue(".*")
	}
	return b
}
