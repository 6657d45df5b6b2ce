package dashboards

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// size is the panel's, or that of its kind.
func (p *panel) size() (w, h uint32) {
	w, h = 12, 8
	switch p.kind {
	case number:
		w, h = 4, 4
	case listing:
		w, h = 24, 9
	}
	if p.w > 0 {
		w = uint32(p.w)
	}
	if p.h > 0 {
		h = uint32(p.h)
	}
	return w, h
}

// shared is what the SDK's builders of all kinds of panels have.
type shared[B any] interface {
	cog.Builder[dashboard.Panel]
	Id(uint32) B
	Title(string) B
	Description(string) B
	GridPos(dashboard.GridPos) B
	Datasource(common.DataSourceRef) B
	Unit(string) B
	NoValue(string) B
	Min(float64) B
	Max(float64) B
	Thresholds(cog.Builder[dashboard.ThresholdsConfig]) B
	ColorScheme(cog.Builder[dashboard.FieldColor]) B
	Mappings([]dashboard.ValueMapping) B
	DataLinks([]cog.Builder[dashboard.DashboardLink]) B
	WithTarget(cog.Builder[variants.Dataquery]) B
}

func (p *panel) builder(b *board, id uint32, at dashboard.GridPos) cog.Builder[dashboard.Panel] {
	switch p.kind {
	case number:
		return fill(stat.NewPanelBuilder(), p, b, id, at).ReduceOptions(last()).GraphMode(common.BigValueGraphModeArea).
			ColorMode(common.BigValueColorModeValue).TextMode(common.BigValueTextModeAuto).Orientation(common.VizOrientationAuto)
	case bars:
		return fill(bargauge.NewPanelBuilder(), p, b, id, at).ReduceOptions(last()).Orientation(common.VizOrientationHorizontal).
			DisplayMode(common.BarGaugeDisplayModeBasic).ShowUnfilled(true)
	case states:
		return fill(statetimeline.NewPanelBuilder(), p, b, id, at).MergeValues(true).ShowValue(common.VisibilityModeAuto).Tooltip(tooltip(common.TooltipDisplayModeSingle)).
			Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(false)).
			FillOpacity(80)
	case heat:
		return fill(heatmap.NewPanelBuilder(), p, b, id, at).Calculate(false).
			YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit).AxisPlacement(common.AxisPlacementLeft)).
			Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Turbo").Fill("dark-orange").Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64)).
			CellValues(heatmap.NewCellValuesBuilder().Unit("ops")).CellGap(1).ShowLegend().Mode(common.TooltipDisplayModeSingle)
	case listing:
		return p.columnsOf(fill(table.NewPanelBuilder(), p, b, id, at), b)
	}
	t := fill(timeseries.NewPanelBuilder(), p, b, id, at).LineWidth(1).ShowPoints(common.VisibilityModeNever).
		LineInterpolation(common.LineInterpolationLinear).
		Tooltip(tooltip(common.TooltipDisplayModeMulti)).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).ShowLegend(true).
			Calcs([]string{"lastNotNull", "max"}).SortBy("Max").SortDesc(true))
	if len(p.steps) > 0 {
		t.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	if p.kind == stack {
		return t.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	return t.FillOpacity(8)
}

func tooltip(mode common.TooltipDisplayMode) cog.Builder[common.VizTooltipOptions] {
	return common.NewVizTooltipOptionsBuilder().Mode(mode).Sort(common.SortOrderDescending)
}

func last() cog.Builder[common.ReduceDataOptions] {
	return common.NewReduceDataOptionsBuilder().Values(false).Calcs([]string{"lastNotNull"})
}

// fill sets what panels of all kinds have.
func fill[B shared[B]](out B, p *panel, b *board, id uint32, at dashboard.GridPos) B {
	out.Id(id).Title(p.title).Description(p.desc).GridPos(at).Datasource(source).Unit(p.unit).NoValue(p.none).
		Thresholds(thresholds(p.steps)).ColorScheme(p.color())
	if p.limits != nil && p.limits.min != nil {
		out.Min(*p.limits.min)
	}
	if p.limits != nil && p.limits.max != nil {
		out.Max(*p.limits.max)
	}
	if len(p.values) > 0 {
		out.Mappings(mappings(p.values))
	}
	if p.link.board != "" {
		out.DataLinks([]cog.Builder[dashboard.DashboardLink]{
			dashboard.NewDashboardLinkBuilder(p.link.title()).Type(dashboard.DashboardLinkTypeLink).Url(p.link.url(b, false)),
		})
	}
	for i, q := range p.queries {
		t := prometheus.NewDataqueryBuilder().RefId(refID(i)).Expr(q.expr).Datasource(source).EditorMode(prometheus.QueryEditorModeCode)
		switch p.kind {
		case listing:
			t.Instant().Format(prometheus.PromQueryFormatTable)
		case bars:
			t.Instant().LegendFormat(q.legend)
		case heat:
			t.Range().Format(prometheus.PromQueryFormatHeatmap).LegendFormat(q.legend)
		default:
			t.Range().LegendFormat(q.legend)
		}
		out.WithTarget(t)
	}
	return out
}

func refID(i int) string { return string(rune('A' + i)) }

// color: a name has the same colour on all panels; numbers have that of their threshold.
func (p *panel) color() cog.Builder[dashboard.FieldColor] {
	mode := dashboard.FieldColorModeIdPaletteClassicByName
	if p.kind != lines && p.kind != stack {
		mode = dashboard.FieldColorModeIdThresholds
	}
	return dashboard.NewFieldColorBuilder().Mode(mode)
}

func thresholds(steps []step) cog.Builder[dashboard.ThresholdsConfig] {
	t := scale(steps)
	return dashboard.NewThresholdsConfigBuilder().Mode(t.Mode).Steps(t.Steps)
}

func scale(steps []step) dashboard.ThresholdsConfig {
	base := green
	if len(steps) == 1 && steps[0].color == green {
		base = red // for what must be up
	}
	list := []dashboard.Threshold{{Color: base}}
	for _, s := range steps {
		list = append(list, dashboard.Threshold{Value: ptr(s.from), Color: s.color})
	}
	return dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: list}
}

func mappings(values []value) []dashboard.ValueMapping {
	m := dashboard.NewValueMap()
	m.Options = map[string]dashboard.ValueMappingResult{}
	for i, v := range values {
		m.Options[fmt.Sprint(v.number)] = dashboard.ValueMappingResult{Text: ptr(v.text), Color: ptr(v.color), Index: ptr(int32(i))}
	}
	return []dashboard.ValueMapping{{ValueMap: m}}
}
