package check

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
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

// manifests are the files with resources for a cluster.
func manifests(t *testing.T) (files []string) {
	t.Helper()
	for _, root := range []string{"../kubernetes", "../tensorfusion"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			base := filepath.Base(name)
			if err == nil && !d.IsDir() && strings.HasSuffix(base, ".yaml") && base != "kustomization.yaml" && !strings.HasPrefix(base, "values") && base != "metadata.yaml" {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 8 {
		t.Fatalf("only %v", files)
	}
	return files
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

// TestKustomization: it names every manifest beside it, and nothing else.
func TestKustomization(t *testing.T) {
	const dir = "../kubernetes"
	b, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
	}
	if err := yaml.Unmarshal(b, &k); err != nil {
		t.Fatal(err)
	}
	if k.Kind != "Kustomization" || k.APIVersion != "kustomize.config.k8s.io/v1beta1" {
		t.Errorf("%+v", k)
	}
	named := map[string]bool{}
	for _, r := range k.Resources {
		named[r] = true
		if _, err := os.Stat(filepath.Join(dir, r)); err != nil {
			t.Error(err)
		}
	}
	files, _ := filepath.Glob(dir + "/*.yaml")
	for _, f := range files {
		if b := filepath.Base(f); b != "kustomization.yaml" && !named[b] && !optional[b] {
			t.Errorf("%s is not in it", b)
		}
	}
}

// optional are examples, and manifests that need something which not every cluster has.
var optional = map[string]bool{"client.yaml": true, "servicemonitor.yaml": true, "prometheusrule.yaml": true}

// TestSelectors: what a service, a policy or a monitor selects is there.
func TestSelectors(t *testing.T) {
	pods, services := []map[string]string{}, []map[string]string{}
	type selecting struct {
		what   string
		labels map[string]string
		from   *[]map[string]string
	}
	var all []selecting
	files, _ := filepath.Glob("../kubernetes/*.yaml")
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		resources, errs := resource.FromStream(t.Context(), name, f)
		for r := range resources {
			var o struct {
				Kind     string
				Metadata struct {
					Name   string
					Labels map[string]string
				}
				Spec struct {
					Selector    any
					PodSelector struct{ MatchLabels map[string]string } `json:"podSelector"`
					Template    struct {
						Metadata struct{ Labels map[string]string }
					}
				}
			}
			if err := yaml.Unmarshal(r.Bytes, &o); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			what := fmt.Sprintf("%s %s", o.Kind, o.Metadata.Name)
			switch o.Kind {
			case "DaemonSet", "Deployment":
				pods = append(pods, o.Spec.Template.Metadata.Labels)
				all = append(all, selecting{what, matchLabels(o.Spec.Selector), &pods})
			case "Service":
				services = append(services, o.Metadata.Labels)
				all = append(all, selecting{what, labels(o.Spec.Selector), &pods})
			case "NetworkPolicy":
				if len(o.Spec.PodSelector.MatchLabels) > 0 {
					all = append(all, selecting{what, o.Spec.PodSelector.MatchLabels, &pods})
				}
			case "ServiceMonitor":
				all = append(all, selecting{what, matchLabels(o.Spec.Selector), &services})
			}
		}
		for err := range errs {
			t.Error(err)
		}
	}
	for _, s := range all {
		found := false
		for _, have := range *s.from {
			ok := len(s.labels) > 0
			for k, v := range s.labels {
				ok = ok && have[k] == v
			}
			found = found || ok
		}
		if !found {
			t.Errorf("%s selects nothing: %v", s.what, s.labels)
		}
	}
}

func labels(v any) map[string]string {
	m := map[string]string{}
	if o, ok := v.(map[string]any); ok {
		for k, v := range o {
			m[k] = fmt.Sprint(v)
		}
	}
	return m
}

func matchLabels(v any) map[string]string {
	if o, ok := v.(map[string]any); ok {
		return labels(o["matchLabels"])
	}
	return nil
}
