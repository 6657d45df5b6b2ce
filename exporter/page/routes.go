package page

import "net/http"

func (p *Page) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.serveHTML)
	mux.HandleFunc("GET /assets/{version}/{file}", serveAsset)
	for path, f := range map[string]func(*query) (any, error){
		"status":    func(*query) (any, error) { return p.status(), nil },
		"history":   p.history,
		"calls":     p.callTable,
		"latency":   p.latency,
		"functions": p.functionSpan,
	} {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, f) })
	}
	return mux
}

// policy lets a browser load this page's own files and nothing else, run no text as a
// script, and hand no text to a parser of HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}
