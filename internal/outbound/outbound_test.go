package outbound

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretIsHidden(t *testing.T) {
	s := Secret("hunter2")
	holder := struct{ S Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	j, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %s %q %+v %#v %v %#v", s, s, s, holder, holder, &holder, s) + log.String() + string(j)
	if strings.Contains(shown, "hunter2") || s.Reveal() != "hunter2" {
		t.Error(shown)
	}
}

func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(content string) string {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if s, err := ReadSecret(write(" pass word\r\n")); err != nil || s != "pass word" {
		t.Errorf("%q %v", s.Reveal(), err)
	}
	for _, bad := range []string{"", "\n", "a\nb", "a\x00b", strings.Repeat("x", maxSecret+1)} {
		if s, err := ReadSecret(write(bad)); err == nil || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%q: %q %v", bad[:min(9, len(bad))], s.Reveal(), err)
		}
	}
	if _, err := ReadSecret(filepath.Join(dir, "none")); err == nil {
		t.Error("a secret out of nothing")
	}
}

func TestTLS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&TLS{CA: path}).Config("h"); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	c, err := (&TLS{}).Config("h")
	if err != nil || c.ServerName != "h" || c.InsecureSkipVerify {
		t.Errorf("%+v %v", c, err)
	}
	c, err = (&TLS{ServerName: "other"}).Config("h")
	if err != nil || c.ServerName != "other" {
		t.Errorf("%+v %v", c, err)
	}
}
