package access

import (
	"time"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/smi"
)

// Mint makes a token of 256 random bits, and the entry for it in a token file, which tells the token to nobody. expires may be zero.
func Mint(name string, expires time.Time) (secret, entry string, err error) {
	if err := checkName(name); err != nil {
		return "", "", err
	}
	secret, digest := smi.NewTokenSecret()
	e := yaml.MapSlice{{Key: "name", Value: name}, {Key: "sha256", Value: digest}}
	if !expires.IsZero() {
		e = append(e, yaml.MapItem{Key: "expires", Value: expires.UTC().Format(time.RFC3339)})
	}
	e = append(e, yaml.MapItem{Key: "rights", Value: []string{"hip", "read"}})
	out, err := yaml.Marshal([]yaml.MapSlice{e})
	return secret, string(out), err
}
