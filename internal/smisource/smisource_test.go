package smisource

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/tfconnect"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestAddress(t *testing.T) {
	for env, want := range map[string]string{
		"":                               "",
		"AMDSMI_REMOTE=gpu:18515":        "gpu:18515",
		"AMDSMI_REMOTE=[::1]:9":          "[::1]:9",
		"AMDSMI_REMOTE=unix:/run/w.sock": "unix:/run/w.sock",
		"AMDSMI_REMOTE=sim:":             "sim:",
		"AMDSMI_REMOTE=gpu:1 TF_WORKER_HOST=other":                   "gpu:1",
		"TF_WORKER_HOST=gpu":                                         "gpu:18515",
		"TF_WORKER_HOST=gpu TF_WORKER_PORT=7":                        "gpu:7",
		"TF_WORKER_HOST=::1":                                         "[::1]:18515",
		"TF_WORKER_HOST=sim: TF_WORKER_PORT=7":                       "sim:",
		"TF_WORKER_HOST=unix:/run/w.sock":                            "unix:/run/w.sock",
		"TF_WORKER_HOST=gpu:9 TF_WORKER_PORT=7":                      "gpu:9",
		"TF_WORKER_HOST=a:1,b":                                       "error", // of Address, which wants one
		"TF_WORKER_HOST=a,,b":                                        "error",
		"TF_WORKER_PORT=7":                                           "",
		"AMDSMI_REMOTE=gpu:1 " + tfconnect.URLVariable + "=nonsense": "gpu:1",
		"TF_WORKER_HOST=gpu " + tfconnect.URLVariable + "=nonsense":  "gpu:18515",
		"AMDSMI_REMOTE=gpu":                                          "error",
		"AMDSMI_REMOTE=:1":                                           "error",
		"AMDSMI_REMOTE=gpu:":                                         "error",
		"AMDSMI_REMOTE=unix:":                                        "error",
	} {
		vars := map[string]string{}
		for _, v := range strings.Fields(env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		got := ""
		w, simulated, err := One(func(name string) string { return vars[name] })
		switch {
		case simulated:
			got = Simulated
		case w != nil:
			got = w.Address.String()
		}
		if err != nil {
			got = "error"
			if !errors.Is(err, smi.ErrInvalid) {
				t.Errorf("%s: %v", env, err)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", env, got, want)
		}
	}
}

// TestWorkers: TF_WORKER_HOST names several workers, whose cards are one list in its order; the configuration file has names for them.
func TestWorkers(t *testing.T) {
	env := map[string]string{"TF_WORKER_HOST": "b:1, a,[::1]:2, lab", "TF_WORKER_PORT": "7", dialing.FileVariable: filepath.Join(t.TempDir(), "config")}
	if err := os.WriteFile(env[dialing.FileVariable], []byte("default: lab\nworkers: {lab: {address: 'unix:/l', token-file: /t}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return env[name] }
	for _, c := range []struct{ host, remote, want string }{
		{env["TF_WORKER_HOST"], "", "b:1 a:7 [::1]:2 unix:/l/t"}, {"", "", "unix:/l/t"}, {"", "lab", "unix:/l/t"}, {"x", "rocwire://y:2", "y:2"},
	} {
		env["TF_WORKER_HOST"], env["AMDSMI_REMOTE"] = c.host, c.remote
		list, _, err := Workers(getenv)
		var got []string
		for _, w := range list {
			got = append(got, w.Address.String()+w.TokenFile)
		}
		if s := strings.Join(got, " "); err != nil || s != c.want {
			t.Errorf("%+v: %s, %v", c, s, err)
		}
	}
}

func TestFirstOf(t *testing.T) {
	fake := smitest.NewFake()
	no := func(code smi.Code, why string) func() (smi.Source, error) {
		return func() (smi.Source, error) { return nil, smi.Errorf(code, "%s", why) }
	}
	yes := func() (smi.Source, error) { return fake, nil }
	never := func() (smi.Source, error) { t.Error("asked without need"); return nil, smi.ErrInternal }
	if src, err := firstOf([]func() (smi.Source, error){no(smi.ErrUnavailable, "no library"), yes, never}); err != nil || src != smi.Source(fake) {
		t.Errorf("%v, %v", src, err)
	}
	_, err := firstOf([]func() (smi.Source, error){no(smi.ErrUnavailable, "no library"), no(smi.ErrNoDriver, "no driver")})
	if !errors.Is(err, smi.ErrNoDriver) || !strings.Contains(err.Error(), "no library; no driver") {
		t.Error(err)
	}
}
