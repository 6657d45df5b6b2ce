package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"go.yaml.in/yaml/v2"
)

// tokenPrefix lets people, and programs that look for secrets in the wrong places, recognise a token.
const tokenPrefix = "rocwire_"

// Mint makes a token of 256 random bits, and the entry for it in a token file, which tells the token to nobody. expires may be zero.
func Mint(name string, expires time.Time) (secret, entry string, err error) {
	if err := checkName(name); err != nil {
		return "", "", err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // does not fail
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	digest := sha256.Sum256([]byte(secret))
	e := yaml.MapSlice{{Key: "name", Value: name}, {Key: "sha256", Value: hex.EncodeToString(digest[:])}}
	if !expires.IsZero() {
		e = append(e, yaml.MapItem{Key: "expires", Value: expires.UTC().Format(time.RFC3339)})
	}
	e = append(e, yaml.MapItem{Key: "rights", Value: []string{"hip", "read"}})
	out, err := yaml.Marshal([]yaml.MapSlice{e})
	return secret, string(out), err
}
