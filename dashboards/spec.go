package dashboards

// board is one dashboard as it is written down here; Files makes Grafana's JSON of it.
type board struct {
	uid, title, desc string
	vars             []variable
	rows             []row
	events           []event
}

// row is a titled part of a board. Its panels flow from left to right.
type row struct {
	title  string
	panels []panel
}

// kind is how a panel draws.
type kind int

const (
	lines   kind = iota // over time
	stack               // over time, on top of each other
	number              // the last value
	bars                // last values side by side
	listing             // last values, a column per query
	states              // over time, a colour per value
	heat                // a histogram over time
)

// panel is one picture. All have title, description, unit and a text for no data.
type panel struct {
	kind        kind
	title, desc string
	unit        string
	none        string // shown where there is no data
	queries     []query
	steps       []step   // thresholds; none: always good
	limits      *limits  // of the axis
	columns     []column // of a table: labels first, then one for each query
	sort        string   // the title of a table's first column in order, highest first
	values      []value  // words for numbers
	link        link     // where a click leads; none if it has no board
	w, h        int      // in Grafana's grid of 24 columns; 0: as its kind has it
}

// query is one PromQL expression and how its series are called. A table's have no
// legend: their columns have titles.
type query struct{ expr, legend string }

// step is where a colour begins.
type step struct {
	from  float64
	color string
}

// limits are the ends of an axis.
type limits struct{ min, max *float64 }

// value is the word and the colour of a number.
type value struct {
	number      int
	text, color string
}

// column is one of a table. Columns that are labels have a label, those of values
// the unit of the query they stand for, in the order of the queries. One without a
// title is not shown.
type column struct {
	title, label string
	unit         string
	steps        []step
	link         link
}

// link is a way to another board: the variables it sets from labels of what was
// clicked. Data source, cluster and time go along.
type link struct {
	board  string            // uid
	labels map[string]string // variable to label
}

// event is something that is marked on all panels over time.
type event struct {
	name, expr, color string
	title, text       string
}

// Grafana's names of colours.
const (
	green  = "green"
	yellow = "yellow"
	orange = "orange"
	red    = "red"
	blue   = "blue"
	purple = "purple"
)

func ptr[T any](v T) *T { return &v }

var (
	share = &limits{ptr(0.0), ptr(1.0)} // 0 to 100 %
	above = &limits{min: ptr(0.0)}      // from zero
	upDn  = []value{{0, "down", red}, {1, "up", green}}
	okBad = []value{{0, "failing", red}, {1, "ok", green}}
	onOff = []value{{0, "no", green}, {1, "yes", orange}}
)

// Thresholds that several panels share.
var (
	fullness = []step{{0.90, orange}, {0.97, red}} // of memory
	heatness = []step{{90, orange}, {100, red}}    // °C, where makers set their limits
	anyBad   = []step{{1, red}}
	anyOdd   = []step{{1, orange}}
	slow     = []step{{0.001, yellow}, {0.1, orange}, {1, red}} // seconds
	failing  = []step{{0.0001, orange}, {0.01, red}}            // share of calls
	held     = []step{{0.01, orange}, {0.25, red}}              // share of time a limit lowers clocks
	aging    = []step{{5, orange}, {30, red}}                   // seconds
	mustBeUp = []step{{1, green}}
)
