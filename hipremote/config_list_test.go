package hipremote

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/tfconnect"
)

// TestAllFromEnv: TF_WORKER_HOST names one worker or several.
func TestAllFromEnv(t *testing.T) {
	t.Setenv("TF_WORKER_PORT", "7")
	for list, want := range map[string]string{
		"": "localhost:7", "gpu": "gpu:7", "gpu:9": "gpu:9", "a:1, b,[::1]:2": "a:1 b:7 ::1:2", Simulated: "sim::7",
	} {
		t.Setenv("TF_WORKER_HOST", list)
		got := ""
		for _, c := range AllFromEnv(os.LookupEnv) {
			got += fmt.Sprintf(" %s:%s", c.Host, c.Port)
		}
		if got != " "+want {
			t.Errorf("%q:%s, want %s", list, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("default: lab\nworkers: {lab: {address: 'gpu:3', token-file: /t, reconnect: 7s}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ROCWIRE_CONFIG", file)
	for _, c := range []struct {
		host, reconnect string
		want            time.Duration
	}{{"lab", "", 7 * time.Second}, {"", "", 7 * time.Second}, {"lab", "9", 9 * time.Second}} {
		t.Setenv("TF_WORKER_HOST", c.host)
		t.Setenv("TF_RECONNECT_TIMEOUT", c.reconnect)
		if all := AllFromEnv(os.LookupEnv); len(all) != 1 || all[0].Host != "gpu" || all[0].Port != "3" || all[0].Dialing.TokenFile != "/t" || all[0].Reconnect != c.want {
			t.Errorf("%+v: %+v", c, all)
		}
	}
	t.Setenv("ROCWIRE_CONFIG", "")
	t.Setenv("TF_WORKER_HOST", "a,,b")
	c := AllFromEnv(os.LookupEnv)
	c[0].Logf = t.Logf
	if _, code := New(c[0]).GetDeviceCount(); len(c) != 1 || code != hip.ErrorNotInitialized {
		t.Errorf("a list that makes no sense: %d workers, %v", len(c), code)
	}
	t.Setenv(tfconnect.URLVariable, "nonsense")
	t.Setenv("TF_WORKER_HOST", "a:1")
	c = AllFromEnv(os.LookupEnv)
	if host, port, err := c[0].Locate(t.Context()); len(c) != 1 || err != nil || host != "a" || port != "1" {
		t.Errorf("%d workers, %s %s, %v", len(c), host, port, err)
	}
}
