package confine

import (
	"os"
	"strconv"
	"strings"
)

// entry is what the parent tells [Enter].
type entry struct {
	Program int  // descriptor of what is executed, which is needed no more; 0 for none
	Network bool // see Options
	Driver  bool // see Needs
	Scratch bool // likewise
	Alone   bool // limits of a user concern this session alone
}

// encode is the entry as a variable of the environment.
func (e *entry) encode() string {
	words := []string{"on"}
	for _, x := range []struct {
		set  bool
		word string
	}{{e.Network, "network"}, {e.Driver, "driver"}, {e.Scratch, "scratch"}, {e.Alone, "alone"}, {e.Program != 0, "program=" + strconv.Itoa(e.Program)}} {
		if x.set {
			words = append(words, x.word)
		}
	}
	return variable + "=" + strings.Join(words, ",")
}

// lookupEntry reads the variable; false if there is to be no boundary.
func lookupEntry() (e entry, ok bool) {
	v, ok := os.LookupEnv(variable)
	for _, w := range strings.Split(v, ",") {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "network":
			e.Network = true
		case "driver":
			e.Driver = true
		case "scratch":
			e.Scratch = true
		case "alone":
			e.Alone = true
		case "program":
			e.Program, _ = strconv.Atoi(value)
		}
	}
	return e, ok
}
