package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// File is a dashboard as Grafana imports it.
type File struct {
	Name string
	JSON []byte
}

// boards are all dashboards, in the order of their links.
func boards() []board {
	return []board{fleetBoard(), gpuBoard(), processBoard(), latencyBoard(), workerBoard(), poolBoard(), localBoard()}
}

// Files makes all dashboards. The same every time.
func Files() ([]File, error) {
	all := boards()
	var files []File
	for i := range all {
		b, err := render(&all[i], all)
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", all[i].uid, err)
		}
		files = append(files, File{Name: all[i].uid + ".json", JSON: b})
	}
	return files, nil
}

const (
	columnsOfGrid = 24
	tag           = "rocwire"
)

func render(b *board, all []board) ([]byte, error) {
	d := dashboard.NewDashboardBuilder(b.title).Uid(b.uid).Description(b.desc).Tags([]string{tag, "gpu", "amd"}).
		Timezone("browser").Time("now-1h", "now").Refresh("30s").Tooltip(dashboard.DashboardCursorSyncCrosshair).Editable()
	for _, other := range all {
		if other.uid != b.uid {
			d.Link(boardLink(&other))
		}
	}
	d.WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Description("The Prometheus that scrapes the exporters.").Type("prometheus"))
	for i := range b.vars {
		d.WithVariable(b.vars[i].builder())
	}
	for _, e := range b.events {
		d.Annotation(e.builder())
	}
	y, id := uint32(0), uint32(0)
	for _, r := range b.rows {
		id++
		d.WithRow(dashboard.NewRowBuilder(r.title).Id(id).GridPos(dashboard.GridPos{X: 0, Y: y, W: columnsOfGrid, H: 1}))
		y++
		x, high := uint32(0), uint32(0)
		for i := range r.panels {
			p := &r.panels[i]
			w, h := p.size()
			if x+w > columnsOfGrid {
				x, y, high = 0, y+high, 0
			}
			id++
			d.WithPanel(p.builder(b, id, dashboard.GridPos{X: x, Y: y, W: w, H: h}))
			x, high = x+w, max(high, h)
		}
		y += high
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	return encode(&built, b.events)
}

// encode adds to the JSON what the SDK's types do not have: an annotation's words.
func encode(d *dashboard.Dashboard, events []event) ([]byte, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	if len(events) > 0 {
		list := m["annotations"].(map[string]any)["list"].([]any)
		for i, e := range events {
			e.addWords(list[i].(map[string]any))
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(m)
	return out.Bytes(), err
}

// has tells if a board has a variable.
func (b *board) has(name string) bool {
	return slices.ContainsFunc(b.vars, func(v variable) bool { return v.name == name })
}
