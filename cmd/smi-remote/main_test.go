package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// ask runs the program against a worker.
func ask(t *testing.T, addr string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TF_WORKER_HOST": host, "TF_WORKER_PORT": port}
	var out, errs bytes.Buffer
	code = run(t.Context(), args, func(k string) string { return env[k] }, &out, &errs)
	return code, out.String(), errs.String()
}

func worker(t *testing.T, cards ...smi.DeviceSnapshot) string {
	return remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(cards...), Sessions: smitest.Clients{}}).Addr
}

func TestOutput(t *testing.T) {
	addr := worker(t, smitest.Cards()...)
	const denied = "smi-remote: GPU 1: processes: no permission to read the processes\n"
	for _, c := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"list", 0, ""},
		{"metrics", 0, ""},
		{"metrics 0", 0, ""},
		{"metrics 1", 0, ""},
		{"info 0", 0, ""},
		{"info 1", 0, ""},
		{"processes", 1, denied},
		{"sessions", 0, ""},
		{"list --json", 0, ""},
		{"--json metrics", 0, ""},
		{"metrics --json 0", 0, ""},
		{"info 0 --json", 0, ""},
		{"processes --json", 1, denied},
		{"sessions --json", 0, ""},
		{"--help", 0, ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, out, errs := ask(t, addr, strings.Fields(c.args)...)
			if code != c.code || errs != c.stderr {
				t.Errorf("exit %d, %q, want %d, %q", code, errs, c.code, c.stderr)
			}
			if strings.Contains(c.args, "json") {
				var v any
				if err := json.Unmarshal([]byte(out), &v); err != nil {
					t.Errorf("JSON: %v", err)
				}
			} else {
				checkWidth(t, out)
			}
			out = strings.ReplaceAll(out, addr, "HOST:PORT")
			file := filepath.Join("testdata", strings.NewReplacer(" ", "_", "--", "").Replace(c.args)+".txt")
			if *rewrite {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out != string(want) {
				t.Errorf("got\n%s\nwant (go test -rewrite writes it anew)\n%s", out, want)
			}
		})
	}
}

func checkWidth(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

func TestErrors(t *testing.T) {
	addr := worker(t, smitest.Cards()...)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "no command"},
		{"frobnicate", 2, `there is no command "frobnicate"`},
		{"list more", 2, `"more" is too much`},
		{"info", 2, "info of which GPU?"},
		{"info abc", 2, `"abc" is not the number of a GPU`},
		{"info 0x0", 2, `"0x0" is not the number of a GPU`},
		{"metrics 1.5", 2, `"1.5" is not the number of a GPU`},
		{"metrics 99999999999999", 2, "is not the number of a GPU"},
		{"metrics -1", 2, "flag provided but not defined: -1"},
		{"info 2", 4, "no GPU 2: there are GPUs 0 to 1"},
		{"metrics 17", 4, "no GPU 17: there are GPUs 0 to 1"},
		{"list --port 0", 2, `"0" is not a port`},
		{"list --port 65536", 2, `"65536" is not a port`},
		{"list --port http", 2, `"http" is not a port`},
		{"list --timeout 0s", 2, "is not more than 0"},
		{"list --nonsense", 2, "flag provided but not defined: -nonsense"},
	} {
		code, out, errs := ask(t, addr, strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.want)
		}
	}
}

func freePort(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// A worker that is not there: one line that names host, port and reason, exit 3.
func TestUnreachable(t *testing.T) {
	addr := freePort(t)
	for _, args := range []string{"list", "metrics 0", "info 0", "processes", "sessions --json"} {
		code, out, errs := ask(t, addr, strings.Fields(args)...)
		if want := "smi-remote: worker " + addr + ": nobody listens there\n"; code != 3 || out != "" || errs != want {
			t.Errorf("%s: exit %d, %q, %q, want 3, %q", args, code, out, errs, want)
		}
	}
	code, _, errs := ask(t, addr, "list", "--host", "no-such-host.invalid")
	if code != 3 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "no-such-host.invalid") {
		t.Errorf("unknown host: exit %d, %q", code, errs)
	}
}

// A listener that accepts and says nothing is given up.
func TestSilentWorker(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	code, _, errs := ask(t, ln.Addr().String(), "list", "--timeout", "50ms")
	if code != 3 || !strings.Contains(errs, ln.Addr().String()) || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// One card that fails is named; the other one is shown.
func TestOneCardFails(t *testing.T) {
	cards := smitest.Cards()
	cards[0].Metrics, cards[0].MetricsErr = nil, &smi.Failure{Code: smi.ErrIO, Detail: "fell off the bus\x1b[2J"}
	cards[0].Info, cards[0].InfoErr = nil, &smi.Failure{Code: smi.ErrIO, Detail: "fell off the bus"}
	addr := worker(t, cards...)
	for _, command := range []string{"metrics", "list"} {
		code, out, errs := ask(t, addr, command)
		if code != 1 || !strings.Contains(errs, "GPU 0: ") || !strings.Contains(errs, "fell off the bus") || strings.Contains(errs, "\x1b") {
			t.Errorf("%s: exit %d, %q", command, code, errs)
		}
		if strings.Count(out, "\n") != 3 {
			t.Errorf("%s:\n%s", command, out)
		}
	}
	code, _, errs := ask(t, addr, "metrics", "0")
	if code != 1 || errs != "smi-remote: fell off the bus?[2J\n" {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestNoCards(t *testing.T) {
	addr := worker(t)
	code, out, errs := ask(t, addr, "list")
	if code != 0 || !strings.Contains(out, "has no GPU") || errs != "" {
		t.Errorf("list: exit %d, %q, %q", code, out, errs)
	}
	code, _, errs = ask(t, addr, "info", "0")
	if code != 4 || errs != "smi-remote: no GPU 0: there is no GPU\n" {
		t.Errorf("info: exit %d, %q", code, errs)
	}
	if _, out, _ = ask(t, addr, "list", "--json"); !strings.Contains(out, `"gpus": []`) {
		t.Errorf("list --json: %s", out)
	}
}

// A client may call itself anything; the table stays a table.
func TestHostileNames(t *testing.T) {
	cards := smitest.Cards()[:1]
	evil := "\x1b]0;owned\a\n" + strings.Repeat("é漢", 400)
	cards[0].Device.Name, cards[0].Info.Name = evil, evil
	for i := range cards[0].Processes {
		p := &cards[0].Processes[i]
		p.Name, p.Client = evil, &smi.Client{Host: evil, User: evil, Executable: evil, Pod: evil, Namespace: evil, Container: evil}
	}
	addr := worker(t, cards...)
	for _, args := range []string{"list", "metrics 0", "info 0", "processes"} {
		code, out, errs := ask(t, addr, strings.Fields(args)...)
		if code != 0 || errs != "" || strings.ContainsAny(out, "\x1b\a") {
			t.Errorf("%s: exit %d, %q\n%q", args, code, errs, out)
		}
		checkWidth(t, out)
	}
}

func TestBytesText(t *testing.T) {
	for b, want := range map[smi.Bytes]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB", 192 << 30: "192.0 GiB", 1 << 40: "1.0 TiB", 5000 << 40: "5000.0 TiB",
	} {
		if got := bytesText(b); got != want {
			t.Errorf("%d: %s, want %s", b, got, want)
		}
	}
}
