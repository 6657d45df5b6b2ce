package loglimit

import (
	"context"
	"log/slog"
	"net"
)

// handler limits what reaches another one.
type handler struct {
	slog.Handler
	l       *limiter
	subject string // of all its lines, "" if each says it
	grouped bool   // attributes are not at the top any more
}

// New limits what reaches h. One that is limited already is returned as it is.
func New(h slog.Handler) slog.Handler {
	if _, ok := h.(*handler); ok {
		return h
	}
	return &handler{Handler: h, l: &limiter{counts: map[key]*count{}}}
}

// Logger is New for a logger.
func Logger(log *slog.Logger) *slog.Logger { return slog.New(New(log.Handler())) }

// Flush says at once what has been held back, for a program that is about to end.
func Flush(log *slog.Logger) {
	if h, ok := log.Handler().(*handler); ok {
		h.l.flush()
	}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	subject, about := h.subject, slog.Attr{}
	if subject == "" && !h.grouped {
		r.Attrs(func(a slog.Attr) bool {
			if s := subjectOf(a); s != "" {
				subject, about = s, a
			}
			return a.Key != "session"
		})
	}
	if !h.l.take(h, &r, subject, about) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// subjectOf is whom an attribute says that a line is about, "" if it says something else.
func subjectOf(a slog.Attr) string {
	switch a.Key {
	case "session":
		return "session " + a.Value.String()
	case "from": // whoever connects has another port each time
		s := a.Value.String()
		if host, _, err := net.SplitHostPort(s); err == nil {
			s = host
		}
		return "from " + s
	}
	return ""
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.Handler = h.Handler.WithAttrs(attrs)
	for _, a := range attrs {
		if s := subjectOf(a); s != "" && !h.grouped && n.subject == "" {
			n.subject = s
		}
	}
	return &n
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	n := *h
	n.Handler, n.grouped = h.Handler.WithGroup(name), h.grouped || name != ""
	return &n
}
