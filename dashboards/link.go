package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// boardLink is the link at the top of a board to another one, with variables and time.
func boardLink(to *board) *dashboard.DashboardLinkBuilder {
	return dashboard.NewDashboardLinkBuilder(to.title).Type(dashboard.DashboardLinkTypeLink).Icon("dashboard").
		Tooltip(to.desc).Url("/d/" + to.uid).IncludeVars(true).KeepTime(true)
}

// url is where a click on something leads. Labels are those of a series, or the
// columns of a table's row; a remote program chose some of their values.
func (l link) url(from *board, inTable bool) string {
	parts := []string{"${__url_time_range}", "${datasource:queryparam}"}
	if from.has("cluster") {
		parts = append(parts, "${cluster:queryparam}")
	}
	var names []string
	for name := range l.labels {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		of := "${__field.labels." + l.labels[name] + ":percentencode}"
		if inTable {
			of = `${__data.fields["` + l.labels[name] + `"]:percentencode}`
		}
		parts = append(parts, "var-"+name+"="+of)
	}
	return "/d/" + l.board + "?" + strings.Join(parts, "&")
}

func (l link) title() string {
	for _, b := range boardTitles {
		if b[0] == l.board {
			return "Show " + b[1]
		}
	}
	return ""
}

// boardTitles are uids, which never change, and what links call the boards.
var boardTitles = [][2]string{
	{fleetUID, "the fleet"}, {gpuUID, "this GPU"}, {processUID, "processes and clients"}, {latencyUID, "call latency"},
	{workerUID, "this worker"}, {poolUID, "pools"}, {localUID, "local processes"},
}

const (
	fleetUID   = "rocwire-fleet"
	gpuUID     = "rocwire-gpu"
	processUID = "rocwire-processes"
	latencyUID = "rocwire-latency"
	workerUID  = "rocwire-worker"
	poolUID    = "rocwire-pools"
	localUID   = "rocwire-local"
)
