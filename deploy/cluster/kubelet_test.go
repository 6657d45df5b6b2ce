package cluster

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestKubelet: pods are scheduled to a real node and run there, and are gone when they are deleted; of the node, and of a pod that still ran, nothing is left.
func TestKubelet(t *testing.T) {
	c := Start(t, Options{Scheduler: true})
	root := t.TempDir()
	Pause(t, filepath.Join(root, "pause"))
	var node *Kubelet
	if !t.Run("node", func(t *testing.T) {
		node = c.Kubelet(t, KubeletOptions{Address: "127.0.0.2", Images: []string{Image(t, "localhost/test:1", root, "/pause")}})
		pods := c.Client.CoreV1().Pods("default")
		for _, name := range []string{"x", "y"} {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "x", Image: "localhost/test:1"}}}}
			if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, name+" runs", func(ctx context.Context) (bool, error) {
				p, err := pods.Get(ctx, name, metav1.GetOptions{})
				return err == nil && p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == node.Name, nil
			})
		}
		if err := pods.Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "x is gone", func(ctx context.Context) (bool, error) {
			_, err := pods.Get(ctx, "x", metav1.GetOptions{})
			return apierrors.IsNotFound(err), nil
		})
		if list := groups(t, node); len(list) == 0 {
			t.Error("it has no control group")
		}
	}) || node == nil { // or skipped
		return
	}
	dir := filepath.Dir(node.Root)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(b), dir) {
		t.Errorf("its mounts: %v\n%s", err, b)
	}
	for _, path := range groups(t, node) {
		t.Errorf("%s is left", path)
	}
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), dir) {
			t.Errorf("%s: %q", path, b)
		}
	}
}

// groups are a node's control groups.
func groups(t *testing.T, k *Kubelet) (list []string) {
	t.Helper()
	name := filepath.Base(filepath.Dir(k.Root))
	if err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // somebody's, and gone
		}
		if d.Name() == name {
			list = append(list, path)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}
