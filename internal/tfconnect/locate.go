package tfconnect

import "context"

// Locate is where the worker of this process is: what the operator says, if the
// environment asks for it, otherwise host and port. When the operator has no answer
// they are used all the same if they were given, which is what fallback says.
func Locate(ctx context.Context, getenv func(string) string, logf func(string, ...any), host, port string, fallback bool) (string, string, error) {
	q, ok := FromEnv(getenv, logf)
	if !ok {
		return host, port, nil
	}
	c, err := q.Resolve(ctx)
	switch {
	case err == nil:
		return c.Host, c.Port, nil
	case fallback && ctx.Err() == nil:
		if logf != nil {
			logf("%v; using %s port %s", err, host, port)
		}
		return host, port, nil
	}
	return "", "", err
}
