package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Programs of a control plane, and of a node.
const (
	apiServer   = "kube-apiserver"
	scheduler   = "kube-scheduler"
	controllers = "kube-controller-manager"
	kubelet     = "kubelet"
)

// Programs are all that Build knows.
var Programs = []string{apiServer, scheduler, controllers, kubelet}

// Build says where a program of Kubernetes is, and builds it where it is not yet: that takes minutes, of which say is told.
func Build(ctx context.Context, name string, say io.Writer) (path string, err error) {
	version, err := version(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "rocwire", "kubernetes-"+version)
	path = filepath.Join(dir, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(path + ".lock") // of who builds it now
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := build(ctx, name, version, path+".new", say); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// version is that of Kubernetes in go.mod.
func version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("which Kubernetes: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build is go build as Kubernetes' own makes it: without C, and with the version, which clients ask for.
func build(ctx context.Context, name, version, to string, say io.Writer) error {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) != 3 {
		return fmt.Errorf("%s of Kubernetes is no version", version)
	}
	flags := "-s -w"
	for variable, value := range map[string]string{"gitVersion": version, "gitMajor": parts[0], "gitMinor": parts[1]} {
		flags += " -X k8s.io/component-base/version." + variable + "=" + value
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-ldflags", flags, "-o", to, "k8s.io/kubernetes/cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "cluster: building %s %s, once: minutes\n", name, version)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	said, packages, last := start, 0, []string{}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		packages++
		last = append(last, lines.Text())[max(0, len(last)-9):] // of an error the end
		if time.Since(said) >= 20*time.Second {
			said = time.Now()
			fmt.Fprintf(say, "cluster: %s: %d packages after %v\n", name, packages, time.Since(start).Round(time.Second))
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", name, err, strings.Join(last, "\n"))
	}
	fmt.Fprintf(say, "cluster: %s was built in %v\n", name, time.Since(start).Round(time.Second))
	return nil
}
