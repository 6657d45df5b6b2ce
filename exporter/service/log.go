package service

import (
	"context"
	"log/slog"
)

// withoutNews passes on warnings and errors only: what the toolkit tells of its start
// stands in the program's own line.
type withoutNews struct{ slog.Handler }

func (h withoutNews) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h withoutNews) WithAttrs(a []slog.Attr) slog.Handler {
	return withoutNews{h.Handler.WithAttrs(a)}
}
func (h withoutNews) WithGroup(name string) slog.Handler {
	return withoutNews{h.Handler.WithGroup(name)}
}
