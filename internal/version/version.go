// Package version is the one statement of which rocwire this is: in what programs say of
// themselves, in the handshakes of both protocols, in metrics and on the page.
package version

import (
	"runtime/debug"
	"sync"
)

// stamp is set by builds of the repository (scripts/ldflags.sh): what git describe says.
var stamp string

// unknown is what is neither built by those nor by the go command from a repository or a module proxy: a test, say.
const unknown = "dev"

// String is the stamp, or else what the go command knows: the version that go install fetched, or the commit that was built.
var String = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	return choose(stamp, info, ok)
})

func choose(stamp string, info *debug.BuildInfo, ok bool) string {
	switch {
	case stamp != "":
		return stamp
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	return unknown
}
