package page

import (
	"bytes"
	"html/template"
	"net/http"
)

// The page as a browser without scripts shows it, and as the others show it until
// their script has asked for figures.
var snapshot = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"bytes": bytesText, "watts": wattsText, "percent": percentText, "celsius": celsiusText, "hertz": hertzText,
	"seconds": secondsText, "rate": rateText, "age": ageText, "count": countText, "hottest": hottest, "clockOf": clockOf, "who": whoText,
}).ParseFS(files, "assets/page.html"))

// view is what the template shows.
type view struct {
	*Status
	Calls  *CallTable
	Assets string
}

func (p *Page) serveHTML(w http.ResponseWriter, r *http.Request) {
	calls, err := p.callTable(&query{})
	if err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	var b bytes.Buffer
	if err := snapshot.Execute(&b, view{Status: p.status(), Calls: calls.(*CallTable), Assets: "assets/" + assetVersion}); err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	send(w, r, b.Bytes())
}
