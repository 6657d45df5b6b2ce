package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// kinds are those of Kubernetes itself that manifests may use.
var kinds = map[string]any{
	"namespace-v1": corev1.Namespace{}, "service-v1": corev1.Service{}, "serviceaccount-v1": corev1.ServiceAccount{}, "configmap-v1": corev1.ConfigMap{},
	"secret-v1": corev1.Secret{}, "pod-v1": corev1.Pod{}, "persistentvolumeclaim-v1": corev1.PersistentVolumeClaim{},
	"daemonset-apps-v1": appsv1.DaemonSet{}, "deployment-apps-v1": appsv1.Deployment{}, "networkpolicy-networking-v1": networkingv1.NetworkPolicy{},
	"role-rbac-v1": rbacv1.Role{}, "rolebinding-rbac-v1": rbacv1.RoleBinding{}, "clusterrole-rbac-v1": rbacv1.ClusterRole{}, "clusterrolebinding-rbac-v1": rbacv1.ClusterRoleBinding{},
}

// schemas writes all schemas where kubeconform looks for them.
func schemas(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, b []byte, err error) {
		t.Helper()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".json"), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, kind := range kinds {
		b, err := schemaOf(kind)
		write(name, b, err)
	}
	files, err := filepath.Glob("crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var s object
		if err := yaml.UnmarshalStrict(b, &s); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		b, err = json.Marshal(s)
		write(strings.TrimSuffix(filepath.Base(f), ".yaml"), b, err)
	}
	return dir
}

func conform(t *testing.T) validator.Validator {
	t.Helper()
	v, err := validator.New([]string{filepath.Join(schemas(t), "{{ .ResourceKind }}{{ .KindSuffix }}.json")}, validator.Opts{Strict: true, KubernetesVersion: "master"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// client is a program's pod, as the chart has it for an example.
const client = "../helm/rocwire/examples/client.yaml"

// manifests are the files with resources for a cluster, but for the chart's: those are given to a real API server, in deploy/cluster.
func manifests(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob("../tensorfusion/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if base := filepath.Base(name); !strings.HasPrefix(base, "values") && base != "metadata.yaml" {
			files = append(files, name)
		}
	}
	if len(files) < 4 {
		t.Fatalf("only %v", files)
	}
	return append(files, client)
}

func TestManifests(t *testing.T) {
	v := conform(t)
	for _, name := range manifests(t) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range v.Validate(name, f) {
			switch r.Status {
			case validator.Valid:
				n++
			case validator.Empty:
			default:
				sig, _ := r.Resource.Signature()
				t.Errorf("%s: %+v: %v", name, sig, r.Err)
			}
		}
		if n == 0 {
			t.Errorf("%s has no resource", name)
		}
	}
}

// TestStrict: the schemas refuse what is wrong.
func TestStrict(t *testing.T) {
	v := conform(t)
	for what, bad := range map[string]string{
		"an unknown field":        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {selektor: {}}\n",
		"a missing field":         "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{image: x}]}}}\n",
		"a wrong type":            "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: [{port: \"80\"}]}\n",
		"a wrong quantity":        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: x, resources: {limits: {cpu: lots}}}]}\n",
		"a kind nobody knows":     "apiVersion: v2\nkind: Gadget\nmetadata: {name: x}\n",
		"an unknown field of CRD": "apiVersion: tensor-fusion.ai/v1\nkind: ProviderConfig\nmetadata: {name: x}\nspec: {vendor: AMD, providerImage: x}\n",
	} {
		for _, r := range v.Validate(what, stringsCloser(bad)) {
			if r.Status == validator.Valid {
				t.Errorf("%s is valid", what)
			}
		}
	}
}

type closer struct{ *strings.Reader }

func (closer) Close() error { return nil }

func stringsCloser(s string) closer { return closer{strings.NewReader(s)} }
