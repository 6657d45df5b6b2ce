package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed page.html.tmpl
var pageText string

// pageTemplate is the page as a browser without scripts shows it, and as the others
// show it until their script has asked for figures.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"in": in}).Parse(pageText))

// snapshot is what the template shows.
type snapshot struct {
	*Status
	Calls  *CallTable
	Assets string // their version
}

func (p *Page) serveHTML(w http.ResponseWriter, r *http.Request) {
	calls, err := p.callTable(&query{})
	if err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, snapshot{p.status(), calls.(*CallTable), assetVersion}); err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	send(w, r, b.Bytes())
}

// missing stands for a figure that is not available.
const missing = "–"

// units that the template asks for, as what the API's figures are multiplied with.
var units = map[string]float64{"": 1, "%": 100, "MiB": 1. / (1 << 20), "MHz": 1e-6, "µs": 1e6}

// in is a figure of the API in a unit, whole unless it is small. To choose the unit by the figure is the script's.
func in(unit string, figure any) (string, error) {
	b, err := json.Marshal(figure)
	if err != nil {
		return "", err
	}
	var v *float64
	if err := json.Unmarshal(b, &v); err != nil {
		return "", err
	}
	if v == nil {
		return missing, nil
	}
	n, digits := *v*units[unit], 0
	if n > -10 && n < 10 && n != float64(int64(n)) {
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64), nil
}
