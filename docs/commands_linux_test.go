package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// about is what the commands of a page take for granted.
type about struct {
	Before  string   // commands: what is there, such as a worker
	Replace []string // of what the reader has to fill in, or has done meanwhile, and by what
	NotRun  []string // lines with this in them are not run; of our programs the flags are looked at. Why stands beside it
	Needs   []string // programs of others, without which the page cannot be tried
	After   string   // commands that show what the page promises
}

const (
	worker   = "hip-worker --backend sim\n"
	reader   = "export LD_LIBRARY_PATH=$PWD/build/lib TF_WORKER_HOST=gpu-server\n"
	password = "prometheus"
)

// of says so of each page that needs something.
var of = map[string]about{
	"../README.md": {
		Replace: []string{
			"/path/to/rocwire/build/lib", "$PWD/build/lib",
			"export TF_WORKER_HOST=gpu-server", "cp keys/ca.crt keys/client-laptop.* . && export TF_WORKER_HOST=gpu-server",
		},
	},
	"access.md": {
		Before:  "echo tokens: >tokens.yaml\nmkdir /run/rocwire\nhip-worker --backend sim --listen unix:/run/rocwire/issuing.sock --issued-tokens issued.json\n",
		NotRun:  []string{"--oidc-issuer https://login.example.com"},                                      // an issuer that the worker asks when it starts
		Replace: []string{"smi-remote token ", "smi-remote --host unix:/run/rocwire/issuing.sock token "}, // as root
		After:   "TF_WORKER_TOKEN_FILE=alice.token smi-remote list\necho wrong-but-long-enough >wrong.token\n! TF_WORKER_TOKEN_FILE=wrong.token smi-remote list\n",
	},
	"amd-gpu-setup.md": {
		Before: "echo tokens: >tokens.yaml\n",
		NotRun: []string{
			"install_rocm_tarball.sh",                                       // 5 GB of AMD's; deploy/rocm_test.go runs it with stand-ins
			"scripts/test-amd-cluster.sh", "scripts/test-amd-remote-gpu.sh", // a cluster; deploy/cluster_test.go runs them with stand-ins
		},
		Replace: []string{" --from-file=web.yml", ""}, // the exporter's page says what it is
	},
	"amd-smi.md":      {Before: worker},
	"call-latency.md": {Before: worker + reader + "./train\n"},
	"dra.md": { // deploy/cluster/dra has a cluster, and gives it what the page does
		Before:  "echo tokens: >tokens.yaml\nchmod 600 tokens.yaml\nmkdir /var/lib/rocwire\ntouch ca.crt\n",
		Replace: []string{"hip-worker --token-file", "hip-worker --backend sim --token-file"},
	},
	"dashboards.md": {
		NotRun: []string{"scripts/fetch_debian.sh"}, // a hundred MB of Debian's; CI runs it
	},
	"web-page.md": {Needs: []string{"curl", "jq"}},
	"ebpf.md": {
		Needs:   []string{"curl"},
		NotRun:  []string{"sudo gpu-exporter --ebpf"}, // a kernel with eBPF: exporter/ebpf and exporter/page run it where there is one
		Before:  "hip-worker --backend sim --metrics-addr 127.0.0.1:9400\n",
		Replace: []string{"| grep hip_local", "| grep hip_"},
	},
	"exporter.md": {
		Needs:  []string{"curl"},
		Before: worker + "hip-worker keys init --dir /etc/gpu-exporter --host gpu-server\ncp /etc/gpu-exporter/ca.crt .\n",
		Replace: []string{
			"$2y$10$…", hashed(password),
			"--local --listen", "--worker gpu-server --listen",
			"-u prometheus ", "-fsS -u prometheus:" + password + " ", // it would ask
		},
		NotRun: []string{"gpu-exporter --local   "}, // AMD GPUs of this machine
		After: "! curl -fsS --cacert ca.crt https://gpu-server:9400/metrics\n" +
			"cp ca.crt /etc/gpu-exporter/clients-ca.crt\n" +
			"gpu-exporter --worker gpu-server --listen 0.0.0.0:9400 --web-config /etc/gpu-exporter/certificates.yml\n" +
			"! curl -fsS --cacert ca.crt https://gpu-server:9400/metrics\n",
	},
	"greptimedb.md":    {Before: worker, Replace: []string{"hip-worker --backend sim", "hip-worker --backend sim --metrics-addr 127.0.0.1:0"}},
	"hip-remote-v1.md": {Before: "", NotRun: []string{"smi-remote --v1"}}, // an old worker: hipv1's and smi-remote's tests have one
	"hsa.md": {
		NotRun: []string{"/opt/rocm/lib"}, // AMD's own runtimes: hsaabi's tests run Debian's
	},
	"install.md": {Before: "hip-worker --backend sim\n", Replace: []string{"/usr/lib/rocwire", "build/lib"}},
	"macos.md": {
		NotRun: []string{"cc -Ihip/include", "./hello_hip"}, // a Mac
	},
	"opentelemetry.md": {Replace: []string{"hip-worker --otlp", "hip-worker --backend sim --otlp"}},
	"remote-hip.md": {
		Needs: []string{"clang++-19", "clang-offload-bundler-19", "ld.lld-19"},
		Before: worker + "mkdir /run/rocwire\nhip-worker --backend sim --listen 127.0.1.1\nhip-worker --backend sim --listen 127.0.1.2\nhip-worker --backend sim --listen unix:/run/rocwire/worker.sock\n" +
			"cp examples/hello_hip/hello_hip.c program.c\ncp examples/tests/launch.hip program.hip\ncp examples/tests/test.h .\ncp examples/kernels/saxpy.hip kernel.hip\ncp examples/kernels/kernel.h .\n",
		Replace: []string{
			"program.c -o program build/lib/libamdhip64.so.6", "program.c -o program build/lib/libamdhip64.so.6 -lm && ./program",
			"program.o -o program build/lib/libamdhip64.so.6", "program.o -o program build/lib/libamdhip64.so.6 && ./program",
			"export TF_WORKER_HOST=a:18515,b:18515", "export TF_WORKER_HOST=a:18515,b:18515; ./your-hip-program; smi-remote list",
		},
		After: "unset TF_WORKER_PORT\nTF_WORKER_HOST=here ./your-hip-program\nunset TF_WORKER_HOST\ncd ~/.config/rocwire\n" + // and lab
			"hip-worker keys init --dir . --host gpu1.example --client alice && mv ca.crt lab-ca.crt && mv client-alice.crt alice.crt && mv client-alice.key alice.key\n" +
			"(echo tokens: && hip-worker token new alice --out lab.token) >tokens.yaml && chmod 600 tokens.yaml\n" +
			"hip-worker --backend sim --listen 0.0.0.0 --tls-cert server.crt --tls-key server.key --tls-client-ca lab-ca.crt --token-file tokens.yaml\n" +
			"smi-remote list\n",
	},
	"remote-smi.md":    {Before: worker + "cp docs/testdata/cards.c program.c\n", After: "scripts/as_if_amdgpu.sh ./program\n"},
	"simulated-gpu.md": {},
	"simulator-check.md": {
		Before:  "cp your-hip-program program\n",
		Replace: []string{"LD_LIBRARY_PATH=…", "LD_LIBRARY_PATH=build/lib"},
	},
	"smi-remote.md": {
		Needs: []string{"jq", "script"},
		Before: "mkdir /run/rocwire\nhip-worker --backend sim --sim-cards 3 --listen 127.0.0.1 --listen unix:/run/rocwire/worker.sock --smi-allow-set\n" +
			"for n in 1 2 3; do hip-worker --backend sim --listen 127.0.1.$n; done\n" +
			"export LD_LIBRARY_PATH=build/lib\n./hello_hip --spin 120 >/dev/null & \n" +
			"until TF_WORKER_HOST=gpu-server smi-remote processes | grep hello_hip; do kill -0 $! && sleep 0.1 || exit 1; done\n",
		NotRun: []string{
			"set fan", "set compute-partition", "set memory-partition", // simulated cards have no fan, and are not divided
			"dns:_rocwire", // a DNS server: discovery's tests have one
		},
		Replace: []string{
			"smi-remote session kill 17", "smi-remote --host unix:/run/rocwire/worker.sock session kill $(smi-remote sessions --json | jq -r '.sessions[0].id')",
			"smi-remote set reset 0", "smi-remote --host unix:/run/rocwire/worker.sock set reset 0 --yes", // it would ask
			"smi-remote set ", "smi-remote --host unix:/run/rocwire/worker.sock set ", // as root
			"hip-worker --backend sim --sim-cards 4 &", "hip-worker --backend sim --sim-cards 4 --listen 127.0.0.1 &",
			"1m ", "1s ", "1m1s", "1s  ", "40s", "1s ", "10s", "1s ",
		},
	},
	"slurm.md": {
		Before: "echo tokens: >tokens.yaml\nchmod 600 tokens.yaml\nmkdir /var/lib/rocwire\nhip-worker --backend sim --listen 127.0.1.1\nhip-worker --backend sim --listen 127.0.1.2 --sim-arch gfx90a\n",
		NotRun: []string{"srun "}, // cmd/rocwire-slurm's test has a Slurm
		Replace: []string{
			"hip-worker --token-file", "hip-worker --backend sim --token-file",
			"rocwire-slurm devices", "mkdir -p /etc/rocwire && cp slurm.yaml /etc/rocwire/ && rocwire-slurm devices",
		},
		After: "test -c /var/lib/rocwire/slurm/n1/card0\ngrep -c '^NodeName=n[12] Name=gpu Type=mi' gres.conf | grep 2\n",
	},
	"tls.md": {
		Replace: []string{"export TF_WORKER_TLS_CERT", "cp /etc/rocwire/ca.crt /etc/rocwire/client-alice.* . && export TF_WORKER_TLS_CERT"},
		After:   "smi-remote list\n! env -u TF_WORKER_TLS_CERT -u TF_WORKER_TLS_KEY smi-remote list\n! env -u TF_WORKER_TLS_CA -u TF_WORKER_TLS_CERT -u TF_WORKER_TLS_KEY smi-remote list\n",
	},
	"windows.md": {
		NotRun: []string{"x86_64-w64-mingw32-gcc", "cl /Iinclude"}, // librocwire/windows builds programs so, and runs them under Wine
	},
	"worker.md": {
		Before: "echo tokens: >tokens.yaml\nchmod 600 tokens.yaml\n",
		Replace: []string{
			"--socket-group render", "--socket-group root", // a group that every machine has
			"smi-remote set quota 0 --memory 32G --session 12", "LD_LIBRARY_PATH=build/lib TF_WORKER_HOST=unix:/run/rocwire/worker.sock ./hello_hip --spin 120 &\n" +
				"export TF_WORKER_HOST=unix:/run/rocwire/worker.sock\n" + // as root
				"until smi-remote processes | grep hello_hip; do kill -0 $! && sleep 0.1 || exit 1; done\nsmi-remote set quota 0 --memory 32G --session 1",
			"--session-memory 16G --session-compute 25", "--session-memory 16G --session-compute 25 --listen unix:/run/rocwire/worker.sock --smi-allow-set",
		},
		After: "mkdir /etc/rocwire/tls && cp /etc/rocwire/server.* /etc/rocwire/tls/ && cp tokens.yaml /etc/rocwire/\n" +
			"hip-worker --config /etc/rocwire/worker.yaml --backend sim\n" +
			"smi-remote workers\n",
	},
}

func hashed(password string) string {
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		panic(err)
	}
	return string(h)
}

// inside is the variable by which a test of one page starts itself in namespaces of its own.
const inside = "ROCWIRE_DOCS_SANDBOX"

func TestMain(m *testing.M) {
	if what := os.Getenv(inside); what != "" {
		if err := enter(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func enter(what string) error {
	var w struct{ Dir, Real, Tree, Script string }
	if err := json.Unmarshal([]byte(what), &w); err != nil {
		return err
	}
	s := sandbox{w.Dir, w.Real, w.Tree}
	if err := s.furnish(); err != nil {
		return err
	}
	return s.run(w.Script)
}

// TestCommands: what a page tells a reader to type works, from its first line to its last.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds everything")
	}
	tree := abs(t, "..")
	if out, err := namespaces().CombinedOutput(); err != nil {
		t.Skipf("needs root, or namespaces for everybody: %v %s", err, out)
	}
	real := build(t, tree)
	for _, page := range pages(t) {
		s := script(t, page)
		if s == "" {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			for _, tool := range of[page].Needs {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is missing", tool)
				}
			}
			dir := folder(t)
			what, err := json.Marshal(map[string]string{"Dir": dir, "Real": real, "Tree": tree, "Script": s})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), inside+"="+string(what))
			alone(cmd)
			// Into a file: what is started in the background would hold a pipe.
			log, err := os.Create(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			cmd.Stdout, cmd.Stderr = log, log
			err = cmd.Run()
			said, _ := os.ReadFile(log.Name())
			if err != nil {
				t.Errorf("%v\n%s", err, said)
			} else {
				t.Logf("%s", said)
			}
		})
	}
}

func namespaces() *exec.Cmd {
	cmd := exec.Command("true")
	alone(cmd)
	return cmd
}

// folder is one that everybody may enter: a worker's sessions are other users.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rocwire-docs")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// build makes what make build makes, and what stands for others' programs.
func build(t *testing.T, tree string) string {
	t.Helper()
	real := folder(t)
	for _, args := range [][]string{
		{"go", "build", "-o", real + "/bin/", "./cmd/..."},
		{"librocwire/build.sh", real + "/build/lib"},
		{"cc", "-Ihip/include", "examples/hello_hip/hello_hip.c", "-o", real + "/program", real + "/build/lib/libamdhip64.so.6", "-lm"},
		{"cc", "-Wall", "-Werror", "-Ismiabi/include", "docs/testdata/cards.c", "-o", real + "/cards", "-L" + real + "/build/lib", "-lamd_smi", "-ldl"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = tree
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return real
}

// prelude ends what the page's commands have started when the shell ends, looks whether it was still there then, and says where one fails.
const prelude = `
set -o pipefail
end() {
	rc=$?
	for f in "$STATE"/server.*; do
		[ -e "$f" ] || continue
		kill "${f##*.}" || { echo "what was started has ended:"; cat "$STATE"/log.*; rc=1; }
	done
	grep -l '^panic:' "$STATE"/log.* && rc=1
	kill $(jobs -p) 2>/dev/null
	exit "$rc"
}
trap end EXIT
at() { echo "--- $*"; }
ok() { rc=$?; [ "$rc" = 0 ] || { echo "FAILED with $rc"; exit 1; }; }
`

// script is what the shell is given of a page, or nothing if it has no commands.
func script(t *testing.T, page string) string {
	a := of[page]
	filled := strings.NewReplacer(a.Replace...)
	used := map[string]bool{}
	fill := func(text string) string {
		for i := 0; i < len(a.Replace); i += 2 {
			used[a.Replace[i]] = used[a.Replace[i]] || strings.Contains(text, a.Replace[i])
		}
		return filled.Replace(text)
	}
	var b strings.Builder
	b.WriteString(prelude + "export BEFORE=before\n")
	for line := range strings.Lines(a.Before) {
		b.WriteString(strings.TrimSuffix(line, "\n") + "\nok\n")
	}
	b.WriteString("unset BEFORE\n")
	n, files := 0, map[string]bool{}
	reads := func(text string) {
		for file := range files {
			files[file] = files[file] || strings.Contains(text, file)
		}
	}
	for _, block := range blocks(t, page) {
		if block.file != "" && block.kind == "yaml" && !found(block) {
			files[block.file] = false
		}
		if block.file != "" && block.kind != "hex" {
			file := strings.Replace(block.file, "~", "$HOME", 1)
			fmt.Fprintf(&b, "mkdir -p \"$(dirname \"%s\")\" && cat >\"%[1]s\" <<'END OF FILE' && chmod 600 \"%[1]s\"\n%sEND OF FILE\nok\n", file, fill(block.text))
		}
		if block.kind != "sh" && block.kind != "console" {
			continue
		}
		for _, c := range block.commands() {
			n++
			fmt.Fprintf(&b, "at %s\n", quote(c.where+": "+c.text))
			text := fill(c.text)
			reads(text)
			for _, not := range a.NotRun {
				if strings.Contains(c.text, not) {
					used[not] = true
					text = onlyFlags(text)
				}
			}
			b.WriteString(text + "\nok\n")
			if plain, _, _ := strings.Cut(text, " #"); strings.HasSuffix(strings.TrimSpace(plain), "&") {
				b.WriteString("wait $!\nok\n")
			}
		}
	}
	for line := range strings.Lines(a.After) {
		reads(line)
		fmt.Fprintf(&b, "at %s\n%s\nok\n", quote("then "+strings.TrimSpace(line)), strings.TrimSuffix(line, "\n"))
	}
	for i, s := range append(a.NotRun, a.Replace...) {
		if (i < len(a.NotRun) || (i-len(a.NotRun))%2 == 0) && !used[s] {
			t.Errorf("%s has no command with %q any more", page, s)
		}
	}
	for file, read := range files {
		if !read {
			t.Errorf("%s: no command reads %s", page, file)
		}
	}
	if n == 0 {
		return ""
	}
	return b.String()
}

// onlyFlags is a command that is not run: if it is one of ours, whether it has such flags.
func onlyFlags(text string) string {
	for _, name := range []string{"hip-worker", "gpu-exporter", "smi-remote"} {
		if i := strings.Index(text, name+" "); i >= 0 {
			text, _, _ = strings.Cut(text[i:], " #")
			return "PARSE_ONLY=1 " + strings.TrimRight(text, " &")
		}
	}
	// What is of the repository is there.
	return "ls " + quote(strings.Fields(text)[0]) + " 2>/dev/null || ! [[ " + quote(strings.Fields(text)[0]) + " == scripts/* ]]"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
