package tensorfusion

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

// maxUUID is the longest UUID of a card: with what names a part of it behind, it still
// fits the 63 characters that the interface has, and the label of a Kubernetes object.
const maxUUID = 46

// Identify is what a card is called: its own unique identity, that of its chip or board
// if it has none, else its place in this machine. The same after every start. info may
// be nil; false says that more must be known of the card first.
func Identify(d smi.Device, info *smi.Info) (string, bool) {
	if u := Name(d.UUID); u != "" {
		return u, true
	}
	if info == nil {
		return "", false
	}
	for _, s := range []string{info.ASIC.Serial, info.Board.Serial} {
		if s := Name(s); s != "" && strings.Trim(s, "0-") != "" {
			return Name("amd-" + s), true
		}
	}
	place := fmt.Sprintf("gpu%d", d.Index)
	if b, ok := d.BDF.Get(); ok {
		place = b.String()
	}
	return Name(fmt.Sprintf("amd-%08x-%s", hash(machine())>>32, place)), true
}

// Name makes of a text what may be the name of a Kubernetes object: letters in lower
// case, digits and '-', of at most maxUUID characters.
func Name(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
	}
	n := strings.TrimRight(b.String(), "-")
	if len(n) > maxUUID {
		n = strings.TrimRight(n[:maxUUID-17], "-") + fmt.Sprintf("-%016x", hash(n))
	}
	return n
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum64()
}

// machine is what tells this machine from others, across restarts.
var machine = sync.OnceValue(func() string {
	for _, f := range []string{"/etc/machine-id", "/sys/class/dmi/id/product_uuid"} {
		if b, err := os.ReadFile(f); err == nil && len(b) > 0 {
			return string(b)
		}
	}
	h, _ := os.Hostname() // "" still tells cards of one machine apart
	return h
})
