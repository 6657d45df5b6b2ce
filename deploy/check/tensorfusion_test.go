package check

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func quantityOf(s string) resource.Quantity { return resource.MustParse(s) }

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestHypervisorPod: what we say of the agent's containers is in the pod that the operator makes, and the agent finds the library.
func TestHypervisorPod(t *testing.T) {
	for _, p := range pools(t) {
		spec := composeHypervisor(p)
		c := &spec.Containers[0]
		lib := env(c, "TF_ACCELERATOR_LIB_PATH")
		if c.Name != mayBePrivileged || c.SecurityContext.RunAsUser == nil || *c.SecurityContext.RunAsUser != 0 || env(c, "TF_HARDWARE_VENDOR") != "AMD" ||
			c.Resources.Limits.Memory().Cmp(quantityOf("512Mi")) < 0 {
			t.Errorf("%s: what our template says is lost: %+v", p.name, c)
		}
		if metrics := "--metrics-output-path=/logs/metrics.log.current"; p.vector != slices.Contains(c.Args, metrics) {
			t.Errorf("%s: Vector %v, args %v", p.name, p.vector, c.Args)
		}
		if !slices.Contains(c.Args, "--discovery-interval=5m") {
			t.Errorf("%s: args %v", p.name, c.Args)
		}
		for _, bad := range []string{"--isolation-mode=soft", "--isolation-mode=partitioned", "--isolation-mode="} {
			if slices.Contains(c.Args, bad) {
				t.Errorf("%s: the hypervisor does not serve AMD's cards with %s", p.name, bad)
			}
		}
		for i := range spec.Containers {
			if spec.Containers[i].Image == "" {
				t.Errorf("%s: container %s has no image", p.name, spec.Containers[i].Name)
			}
		}
		if p.schedulingConfig != "" && p.schedulingConfig != "tf-scheduling-config" {
			t.Errorf("%s: the chart makes no %s", p.name, p.schedulingConfig)
		}

		// The init container's command puts what the provider's image has where the library is looked for, by its path and by its bare name.
		node := initRuntime(t, spec)
		for _, name := range append([]string{lib}, onPath(env(c, "LD_LIBRARY_PATH"), "libaccelerator_amd.so")...) {
			if _, err := os.Stat(filepath.Join(node, strings.TrimPrefix(name, dataFolder))); strings.HasPrefix(name, dataFolder) && err == nil {
				node = ""
				break
			}
		}
		if node != "" {
			t.Errorf("%s: %s is not there", p.name, lib)
		}
		if !slices.Contains(strings.Split(env(c, "LD_LIBRARY_PATH"), ":"), path.Dir(lib)) {
			t.Errorf("%s: a bare name is looked for in %s, the library is %s", p.name, env(c, "LD_LIBRARY_PATH"), lib)
		}
		for _, m := range p.provider.Hypervisor.HostPathMounts {
			if m.HostPath != "/opt" { // the kubelet starts no pod with a folder of the node that is not there
				t.Errorf("%s: not every node has %s", p.name, m.HostPath)
			}
		}
	}
}

func onPath(list, name string) (files []string) {
	for dir := range strings.SplitSeq(list, ":") {
		files = append(files, path.Join(dir, name))
	}
	return files
}

// initRuntime runs the command of the init container that copies the library, with the files that the provider's image has, and returns what is
// the node's folder then.
func initRuntime(t *testing.T, spec *corev1.PodSpec) string {
	t.Helper()
	image, node := t.TempDir(), t.TempDir()
	for _, c := range lastStage(t, "provider") {
		if c, ok := c.(*instructions.CopyCommand); ok {
			for _, src := range c.SourcePaths {
				dst := c.DestPath
				if strings.HasSuffix(dst, "/") {
					dst += path.Base(src)
				}
				file := filepath.Join(image, dst)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	i := slices.IndexFunc(spec.InitContainers, func(c corev1.Container) bool { return c.Name == "init-runtime" })
	args := slices.Clone(spec.InitContainers[i].Command)
	script := &args[len(args)-1]
	*script = strings.NewReplacer(dataFolder, node, "/build", image+"/build").Replace(*script)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return node
}

// lastStage are the instructions that make an image, without those of the stages before.
func lastStage(t *testing.T, name string) []instructions.Command {
	t.Helper()
	ast, err := parser.Parse(bytes.NewReader(read(t, "../docker/"+name+".Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(ast.AST, linter.New(&linter.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	return stages[len(stages)-1].Commands
}

// TestWorkerPod: the command that the operator writes into a worker's pod starts the worker, in a container of our image, with the settings of the
// image, what the pod's template says and the limits of hard isolation.
func TestWorkerPod(t *testing.T) {
	image := workerImage(t)
	for _, p := range pools(t) {
		if out, err := image.start(t, composeWorker(t, p, "hard", 8192, 25)); err != nil || !strings.Contains(out, "memory_bytes=8589934592 compute_ratio=0.25") {
			t.Errorf("%s: %v\n%s", p.name, err, out)
		}
	}
	p := pools(t)[0]
	p.worker.Template.Spec.Containers[0].Args = []string{"--max-sessions", "1", "--session-memory", "nonsense"}
	if out, err := image.start(t, composeWorker(t, p, "shared", 0, 0)); err == nil || !strings.Contains(out, "--session-memory") {
		t.Errorf("the template's args: %v\n%s", err, out)
	}
	p = pools(t)[0]
	if out, err := image.start(t, composeWorker(t, p, "hard", -1, 25)); err == nil || !strings.Contains(out, "TF_GPU_MEMORY_LIMIT") {
		t.Errorf("limits that make no sense: %v\n%s", err, out)
	}
}

// image is a folder that has what an image has in its working directory, and its environment.
type image struct {
	dir string
	env []string
}

// workerImage makes one of our container file of TensorFusion's workers. Its settings are those of the image but for what needs a cluster and a
// card: hip-worker says of each whether it knows it.
func workerImage(t *testing.T) *image {
	t.Helper()
	im := &image{dir: t.TempDir()}
	bin := filepath.Join(im.dir, "usr/local/bin")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", bin+"/", "./cmd/hip-worker", "./cmd/hip-session").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cwd := "/"
	for _, c := range lastStage(t, "tensorfusion-worker") {
		switch c := c.(type) {
		case *instructions.WorkdirCommand:
			cwd = c.Path
			if err := os.MkdirAll(filepath.Join(im.dir, cwd), 0o755); err != nil {
				t.Fatal(err)
			}
		case *instructions.EnvCommand:
			for _, kv := range c.Env {
				im.env = append(im.env, kv.Key+"="+strings.ReplaceAll(kv.Value, "/etc/rocwire", im.dir+"/etc/rocwire"))
			}
		case *instructions.RunCommand:
			script := strings.Join(c.CmdLine, " ")
			if !strings.HasPrefix(script, "ln ") {
				continue // of the distribution
			}
			cmd := exec.Command("sh", "-c", strings.ReplaceAll(script, "/usr/local/bin", bin))
			cmd.Dir = filepath.Join(im.dir, cwd)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out)
			}
		case *instructions.CopyCommand:
			for _, src := range c.SourcePaths {
				if c.From == "" {
					im.settings(t, filepath.Join("../..", src), filepath.Join(im.dir, c.DestPath))
				}
			}
		}
	}
	im.dir = filepath.Join(im.dir, cwd)
	return im
}

// settings copies the image's settings, with keys that are there.
func (im *image) settings(t *testing.T, from, to string) {
	t.Helper()
	etc := filepath.Dir(to)
	if out, err := exec.Command(filepath.Join(im.dir, "usr/local/bin/hip-worker"), "keys", "init", "--dir", etc+"/tls", "--host", "tensorfusion-worker").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(read(t, from), &settings); err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]any{
		"listen": "127.0.0.1", "backend": "sim", "tls-cert": etc + "/tls/server.crt", "tls-key": etc + "/tls/server.key", "token-file": etc + "/tokens.yaml",
		"metrics-addr": "127.0.0.1:0", "web-config": etc + "/web.yml",
	} {
		if settings[key] == nil {
			t.Errorf("the image says nothing of %s", key)
		}
		settings[key] = v
	}
	if settings["oidc-issuer"] != "kubernetes" {
		t.Errorf("tokens of service accounts: %v", settings["oidc-issuer"])
	}
	delete(settings, "oidc-issuer") // there is no cluster here
	b, err := yaml.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{to: b, etc + "/tokens.yaml": []byte("tokens: []\n"), etc + "/web.yml": nil} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// start runs the pod's container until it serves, and ends it; what it has said.
func (im *image) start(t *testing.T, spec *corev1.PodSpec) (string, error) {
	t.Helper()
	c := &spec.Containers[0]
	args := append(slices.Clone(c.Command[1:]), c.Args...)
	for i, a := range args {
		if a == "8000" { // the pod's own there; here it may be taken
			args[i] = "0"
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Command[0], args...)
	cmd.Dir = im.dir
	cmd.Env = append(slices.Clone(im.env), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())
	for _, e := range c.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var said output
	said.serving = func() { _ = cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.said.String(), err
}

// output calls serving when a worker has said that it serves.
type output struct {
	said    bytes.Buffer // no part of it: what copies would write past Write
	serving func()
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.said.Write(b)
	if o.serving != nil && strings.Contains(o.said.String(), "listening") {
		o.serving()
		o.serving = nil
	}
	return n, err
}

// TestValues: what we tell TensorFusion's chart is what it reads (1.8), and what it makes itself we do not make again.
func TestValues(t *testing.T) {
	known := map[string]any{
		"initialGpuNodeLabelSelector": nil, "providerConfigs": map[string]any{"nvidia": map[string]any{"enabled": nil}}, "cluster": map[string]any{"enabled": nil},
		"controller": map[string]any{"isolationModePolicy": nil}, "greptime": map[string]any{"installStandalone": nil},
	}
	var values map[string]any
	if err := yaml.Unmarshal(read(t, "../tensorfusion/values-amd.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, have, known map[string]any)
	walk = func(at string, have, known map[string]any) {
		for k, v := range have {
			below, ok := known[k]
			if !ok {
				t.Errorf("the chart knows no %s%s", at, k)
			}
			if m, ok := v.(map[string]any); ok {
				next, _ := below.(map[string]any)
				walk(at+k+".", m, next)
			}
		}
	}
	walk("", values, known)
	if values["controller"].(map[string]any)["isolationModePolicy"] != "static" {
		t.Errorf("%v", values["controller"])
	}
	for _, f := range manifests(t) {
		if strings.Contains(string(read(t, f)), "kind: SchedulingConfigTemplate") {
			t.Errorf("%s: the chart makes the SchedulingConfigTemplate", f)
		}
	}
	var about struct{ IsolationModes []string }
	if err := yaml.Unmarshal(read(t, "../tensorfusion/metadata.yaml"), &about); err != nil || !slices.Equal(about.IsolationModes, []string{"shared", "hard"}) {
		t.Errorf("%v, %v", about, err)
	}
}
