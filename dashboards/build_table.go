package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// columnsOf joins the queries' answers to rows by the labels they share, and
// names, orders and colours the columns.
func (p *panel) columnsOf(t *table.PanelBuilder, b *board) cog.Builder[dashboard.Panel] {
	rename, order, exclude := map[string]string{}, map[string]int{}, map[string]bool{"Time": true}
	value := 0
	for i, c := range p.columns {
		field := c.label
		if field == "" {
			field = "Value #" + refID(value)
			if len(p.queries) == 1 {
				field = "Value"
			}
			value++
		}
		if c.title == "" {
			exclude[field] = true
			continue
		}
		rename[field], order[field] = c.title, i
		if props := c.properties(b); len(props) > 0 {
			t.OverrideByName(c.title, props)
		}
	}
	t.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}})
	t.WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
		"excludeByName": exclude, "renameByName": rename, "indexByName": order,
	}})
	t.CellHeight(common.TableCellHeightSm).Filterable(true).Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{}))
	if p.sort != "" {
		t.SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName(p.sort).Desc(true)})
	}
	return t
}

// properties are how a column differs from the panel.
func (c *column) properties(b *board) []dashboard.DynamicConfigValue {
	var list []dashboard.DynamicConfigValue
	set := func(id string, value any) { list = append(list, dashboard.DynamicConfigValue{Id: id, Value: value}) }
	if c.unit != "" {
		set("unit", c.unit)
	}
	if len(c.steps) > 0 {
		set("thresholds", scale(c.steps))
		set("custom.cellOptions", map[string]any{"type": "color-text"})
	}
	if c.link.board != "" {
		set("links", []map[string]any{{"title": c.link.title(), "url": c.link.url(b, true)}})
	}
	return list
}
