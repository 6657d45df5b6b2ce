package confine

import (
	"runtime"
	"strconv"
	"strings"
)

// variable carries what [Enter] is to do into a session process.
const variable = "ROCWIRE_BOUNDARY"

// runtimeEnv is what Go's own runtime reads, and what wire does.
var runtimeEnv = []string{"ROCWIRE_LIBCRYPTO", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE", "TF_DEBUG", "TZ"}

// environment is what a session process is told of the parent's, which may hold secrets of others.
func environment(all, names []string) []string {
	var out []string
	procs := false
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if name != variable && (named(runtimeEnv, name) || named(names, name)) {
			out = append(out, v)
			procs = procs || name == "GOMAXPROCS"
		}
	}
	if !procs {
		// The share of the processors that a container has stands in /proc and in the cgroup's files, which a session does not see.
		out = append(out, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	}
	return out
}

// named reports whether a list has a name, or its beginning.
func named(list []string, name string) bool {
	for _, n := range list {
		if begin, many := strings.CutSuffix(n, "*"); n == name || many && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
