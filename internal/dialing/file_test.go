package dialing

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/wire"
)

const exampleFile = `
default: lab
workers:
  lab:
    address: rocwire://gpu1.example
    token-file: lab.token
    reconnect: 2m
    tls:
      ca: ~/lab-ca.crt
      server-name: gpu1
  here: {address: "unix:/run/w.sock"}
  other: {address: "10.0.0.7:9", tls: {}}
`

// envOf is an environment whose configuration file has this content.
func envOf(t *testing.T, content string) (getenv func(string) string, dir string, env map[string]string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, ".config", "rocwire")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	env = map[string]string{"HOME": home}
	return func(name string) string { return env[name] }, dir, env
}

// TestWorkers: names, their settings, and what goes before them.
func TestWorkers(t *testing.T) {
	getenv, dir, env := envOf(t, exampleFile)
	home := env["HOME"]
	list, err := Workers("", "7", FromEnv(getenv), getenv)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	want := Worker{Name: "lab", Settings: Settings{TokenFile: filepath.Join(dir, "lab.token"), TLS: TLS{Use: "1", CA: filepath.Join(home, "lab-ca.crt"), ServerName: "gpu1"}}}
	want.Host, want.Port = "gpu1.example", "18515"
	minutes := 2 * time.Minute
	want.Reconnect = &minutes
	if !reflect.DeepEqual(list[0], want) || list[0].Label() != "lab" {
		t.Errorf("%+v, want %+v", list[0], want)
	}
	env[TokenVariable], env[TLSVariable] = "/other", "0"
	list, err = Workers("a, lab,here,other", "7", FromEnv(getenv), getenv)
	if err != nil || len(list) != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, address := range []string{"a:7", "gpu1.example:18515", "unix:/run/w.sock", "10.0.0.7:9"} {
		if w := list[i]; w.Address.String() != address || w.TokenFile != "/other" || w.TLS.Use != "0" || (w.TLS.ServerName == "gpu1") != (i == 1) {
			t.Errorf("%+v", w)
		}
	}
	// TLS without a word about it is TLS with this machine's CAs.
	delete(env, TLSVariable)
	list, err = Workers("other", "7", FromEnv(getenv), getenv)
	var o wire.Options
	if err != nil || list[0].Apply(&o) != nil || o.TLS == nil {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestFilePlaces: where the file is looked for.
func TestFilePlaces(t *testing.T) {
	getenv, dir, env := envOf(t, exampleFile)
	other := t.TempDir()
	for what, c := range map[string]struct {
		env  map[string]string
		none bool
		fail bool
	}{
		"home": {nil, false, false}, "XDG": {map[string]string{"XDG_CONFIG_HOME": filepath.Dir(dir), "HOME": other}, false, false},
		"XDG that is relative": {map[string]string{"XDG_CONFIG_HOME": "x"}, false, false}, "XDG without one": {map[string]string{"XDG_CONFIG_HOME": other}, true, false},
		"named":     {map[string]string{FileVariable: filepath.Join(dir, "config.yaml"), "HOME": ""}, false, false},
		"not there": {map[string]string{FileVariable: filepath.Join(other, "x")}, false, true}, "no home": {map[string]string{"HOME": ""}, true, false}, "a folder": {map[string]string{FileVariable: other}, false, true},
	} {
		get := func(name string) string {
			if v, ok := c.env[name]; ok {
				return v
			}
			return env[name]
		}
		list, err := Workers("", "7", Settings{}, get)
		if (err != nil) != c.fail || (len(list) == 0) != (c.none || c.fail) {
			t.Errorf("%s: %+v, %v", what, list, err)
		}
	}
	_ = getenv
}

func TestBadFiles(t *testing.T) {
	for _, s := range []string{"workers: {a: {}}", "workers: {a: {adress: x}}", "x: 1", "[", "workers: {'a,b': {address: x}}", "workers: {a: {address: 'x y'}}", "default: b,", "default: 'a b'",
		"workers: {a: {address: x}, a: {address: y}}", "workers: {a: {address: x, tls: 1}}", "workers: {a: {address: x, reconnect: soon}}", "workers: {a: {address: x, reconnect: -1s}}"} {
		getenv, dir, _ := envOf(t, s)
		_, err1 := Workers("", "7", Settings{}, getenv)
		_, err2 := Workers("a", "7", Settings{}, getenv)
		if err1 == nil && err2 == nil {
			t.Errorf("%q is taken", s)
		}
		for _, err := range []error{err1, err2} {
			if err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(s, "default") && !strings.Contains(err.Error(), dir)) {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
}

// TestFileOf: a file that is written is read as what was written.
func TestFileOf(t *testing.T) {
	getenv, _, _ := envOf(t, strings.Replace(exampleFile, "ca: ~/lab-ca.crt\n", "", 1))
	want, err := Workers("lab,10.0.0.9:7,here,other,lab", "7", Settings{}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	b, names, err := FileOf(want, "")
	if err != nil || strings.Join(names, " ") != "lab w1 here other w4" {
		t.Fatalf("%s, %q, %v", b, names, err)
	}
	getenv, _, _ = envOf(t, string(b))
	got, err := Workers(strings.Join(names, ","), "7", Settings{}, getenv)
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	for i := range got {
		want[i].Name = names[i]
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(exampleFile))
	f.Add([]byte("workers: {a: {address: x, tls: {ca: y}}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseFile(b)
		if err != nil {
			return
		}
		for name := range got.Workers {
			w, err := got.worker(name, "1", Settings{})
			if err == nil && (w.Name != name || w.Host == "" || strings.ContainsAny(name, ", \n")) {
				t.Errorf("%q: %+v", name, w)
			}
		}
	})
}

// TestToken: it is read anew each time; what is no token is an error that names the file.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	s := Settings{TokenFile: path}
	var o wire.Options
	if err := s.Apply(&o); err != nil || o.Token == nil {
		t.Fatal(err)
	}
	if _, err := o.Token(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
	for _, want := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(want+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := o.Token(); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := o.Token(); err == nil {
		t.Errorf("two lines: %q", got)
	}
}

// TestFolder: the files of a folder are one, with the paths of each from where it is, and without a word about who can read their tokens.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{FileVariable: dir}
	getenv := func(name string) string { return env[name] }
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if content == "" {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, name, "config.yaml"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("empty", "")
	if _, err := Workers("", "7", Settings{}, getenv); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder without a file: %v", err)
	}
	write("b", "workers: {z: {address: one, token-file: token}, y: {address: two}}")
	write("a", "default: x\nworkers: {x: {address: three, token-file: /t}, w: {address: four}}")
	list, err := Workers("", "7", Settings{}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range list {
		got = append(got, w.Name+" "+w.Host+" "+w.TokenFile)
		if w.TokenGiven != (w.TokenFile != "") {
			t.Errorf("%+v", w)
		}
	}
	if want := []string{"x three /t", "y two ", "z one " + filepath.Join(dir, "b", "token")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	env[TokenVariable] = "/mine"
	if list, err = Workers("w", "7", FromEnv(getenv), getenv); err != nil || list[0].Host != "four" || list[0].TokenFile != "/mine" || list[0].TokenGiven {
		t.Errorf("%+v, %v", list, err)
	}
	write("c", "workers: {y: {address: five}}")
	if _, err := Workers("", "7", Settings{}, getenv); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "b")) {
		t.Errorf("a name in two files: %v", err)
	}
}
