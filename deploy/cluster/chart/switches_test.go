package chart

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/deploy/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// switches of the chart, and what each may be.
var switches = [][]map[string]any{
	{{"worker.enabled": false}, {"worker.backend": "rocm"}, {"worker.backend": "sim"}, {"worker.backend": "sim", "worker.podDisruptionBudget.enabled": true}},
	{{"exporter.enabled": false}, {"exporter.enabled": true}, {"exporter.enabled": true, "exporter.ebpf": false}},
	{{"tls.source": "own"}, {"tls.source": "certManager"}, {"tls.source": "certManager", "tls.certManager.issuerRef.name": "corporate"},
		{"tls.source": "existing", "tls.existing.workerSecret": "worker-keys", "tls.existing.exporterSecret": "exporter-keys", "tls.ca": authority}},
	{{"metrics.enabled": true}, {"metrics.enabled": false}},
	{{"metrics.existingSecret": ""}, {"metrics.existingSecret": "who-scrapes"}},
	{{"metrics.serviceMonitor.enabled": false}, {"metrics.serviceMonitor.enabled": true}},
	{{"networkPolicy.enabled": true}, {"networkPolicy.enabled": false}},
	{{"clients.namespaces": []any{}}, {"clients.namespaces": []any{"training"}}},
	{{"worker.access.serviceAccounts": true},
		{"worker.access.serviceAccounts": false, "worker.access.tokensSecret": "tokens", "worker.access.clientCASecret": "client-ca", "worker.access.issuedTokens": true}},
}

// alone are switches that have to do with no other: the templates that read them read nothing else.
var alone = []map[string]any{{"metrics.rules.enabled": true}, {"metrics.prometheus.serviceAccount": "prometheus-k8s"}, {"dashboards.enabled": true}, {"dra.enabled": true}}

const authority = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

// given are Secrets that are there before the chart, as the switches name them.
var given = []string{"worker-keys", "exporter-keys", "who-scrapes", "tokens", "client-ca", "rocwire-dra"}

// combinations calls f with each, as many as the product of all switches' choices.
func combinations(f func(values map[string]any)) (n int) {
	at := make([]int, len(switches))
	for {
		dotted := map[string]any{}
		for i, s := range switches {
			maps.Copy(dotted, s[at[i]])
		}
		f(set(dotted))
		n++
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < len(switches[i]) {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			return n
		}
	}
}

// TestSwitches: with every combination of its switches the chart is rendered, every name in what comes of it leads to something, and a real API server takes all of it.
func TestSwitches(t *testing.T) {
	c := cluster.Start(t, cluster.Options{})
	k := prepare(t, c)
	k.define(t)
	// The keys that a release keeps, so that they are not made anew each time.
	have := having(render(t, set(map[string]any{"exporter.enabled": true}), nil).of("Secret"))
	seen := map[string]*unstructured.Unstructured{}
	try := func(values map[string]any, unchecked bool) {
		t.Helper()
		documents, notes, err := renderedOf(t, values, have, operators, unchecked)
		if err != nil {
			t.Fatalf("%v: %v", values, err)
		}
		if !strings.Contains(notes, "is installed as "+release+" in "+namespace) {
			t.Fatalf("%v: notes:\n%s", values, notes)
		}
		var all objects
		for _, d := range documents {
			o := seen[d]
			if o == nil {
				o = parse(t, d)
				seen[d] = o
				k.dryRun(t, o)
				secure(t, o)
			}
			all = append(all, o)
		}
		connected(t, values, all)
	}
	for _, s := range append(slices.Clone(switches), alone) {
		for _, dotted := range s {
			try(set(dotted), false)
		}
	}
	n := combinations(func(values map[string]any) { try(values, true) })
	t.Logf("%d combinations, %d objects that differ", n, len(seen))
	if n != 4*3*4*64 || len(seen) < 60 {
		t.Errorf("%d combinations have %d objects", n, len(seen))
	}
}

func names(all objects) (names []string) {
	for _, o := range all {
		names = append(names, o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName())
	}
	return names
}

// connected: nothing is there twice, what is selected is there, and so are the Secrets that pods and monitors want, once cert-manager has made its own.
func connected(t *testing.T, values any, all objects) {
	t.Helper()
	twice := slices.Sorted(slices.Values(names(all)))
	if len(slices.Compact(slices.Clone(twice))) != len(twice) {
		t.Errorf("%v: something is there twice: %v", values, twice)
	}
	secrets := slices.Clone(given)
	for _, o := range all.of("Secret") {
		secrets = append(secrets, o.GetName())
	}
	accounts := []string{"default"} // which every namespace has
	for _, o := range all.of("ServiceAccount") {
		accounts = append(accounts, o.GetName())
	}
	for _, o := range all.of("Certificate") {
		name, _, _ := unstructured.NestedString(o.Object, "spec", "secretName")
		secrets = append(secrets, name)
	}
	var pods, services []map[string]string
	for _, o := range all {
		if template, ok := templateOf(o); ok {
			pods = append(pods, template.Labels)
			for _, v := range template.Spec.Volumes {
				if v.Secret != nil && !slices.Contains(secrets, v.Secret.SecretName) {
					t.Errorf("%v: %s wants the Secret %s", values, o.GetName(), v.Secret.SecretName)
				}
			}
			if a := template.Spec.ServiceAccountName; a != "" && !slices.Contains(accounts, a) {
				t.Errorf("%v: %s runs as %s", values, o.GetName(), a)
			}
		}
		if o.GetKind() == "Service" {
			services = append(services, o.GetLabels())
		}
	}
	for _, o := range all {
		path, from := []string{"spec", "selector", "matchLabels"}, pods
		switch o.GetKind() {
		case "Service":
			path = []string{"spec", "selector"}
		case "NetworkPolicy":
			path = []string{"spec", "podSelector", "matchLabels"}
		case "ServiceMonitor":
			from = services
			endpoints, _, _ := unstructured.NestedSlice(o.Object, "spec", "endpoints")
			for _, at := range [][]string{{"tlsConfig", "ca", "secret", "name"}, {"basicAuth", "username", "name"}, {"basicAuth", "password", "name"}} {
				if name, _, _ := unstructured.NestedString(endpoints[0].(map[string]any), at...); !slices.Contains(secrets, name) {
					t.Errorf("%v: the monitor %s wants the Secret %q", values, o.GetName(), name)
				}
			}
		case "DaemonSet", "Deployment", "PodDisruptionBudget":
		default:
			continue
		}
		labels, _, err := unstructured.NestedStringMap(o.Object, path...)
		if err != nil || len(labels) == 0 || !slices.ContainsFunc(from, func(have map[string]string) bool {
			for k, v := range labels {
				if have[k] != v {
					return false
				}
			}
			return true
		}) {
			t.Errorf("%v: %s %s selects nothing: %v %v", values, o.GetKind(), o.GetName(), labels, err)
		}
	}
}

// templateOf is the pod that an object is, or makes.
func templateOf(o *unstructured.Unstructured) (template corev1.PodTemplateSpec, ok bool) {
	from, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	if o.GetKind() == "Pod" {
		from = o.Object
	} else if from == nil {
		return template, false
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from, &template); err != nil {
		panic(err) // the server takes it
	}
	return template, true
}

// secure: no container is privileged, may become more than it is, or writes to its image; workers are a user without capabilities; nobody lets strangers in.
func secure(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	template, ok := templateOf(o)
	if !ok {
		return
	}
	if len(template.Spec.Containers) != 1 {
		t.Fatalf("%s has %d containers", o.GetName(), len(template.Spec.Containers))
	}
	for _, c := range append(slices.Clone(template.Spec.InitContainers), template.Spec.Containers...) {
		s := c.SecurityContext
		if s == nil || s.Privileged != nil && *s.Privileged || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: %+v", o.GetName(), s)
		}
		if slices.ContainsFunc(append(slices.Clone(c.Command), c.Args...), func(a string) bool { return strings.Contains(a, "insecure") }) {
			t.Errorf("%s: %v", o.GetName(), c.Args)
		}
	}
	if template.Spec.HostNetwork || template.Spec.HostIPC {
		t.Errorf("%s has the node's network", o.GetName())
	}
	c := template.Spec.Containers[0]
	s, all := c.SecurityContext, template.Spec.SecurityContext
	if c.Name == "gpu-exporter" && (template.Spec.AutomountServiceAccountToken == nil || *template.Spec.AutomountServiceAccountToken) {
		t.Errorf("%s has a token", o.GetName())
	}
	if ofNode(template) {
		return
	}
	if all == nil || all.RunAsNonRoot == nil || !*all.RunAsNonRoot || all.RunAsUser == nil || *all.RunAsUser == 0 || s.RunAsUser != nil || len(s.Capabilities.Add) > 0 ||
		template.Spec.HostPID {
		t.Errorf("%s is root, or sees the node: %+v %+v", o.GetName(), all, s)
	}
}

// ofNode: an exporter reads other users' processes, and the driver on a node has folders of the kubelet's.
func ofNode(template corev1.PodTemplateSpec) bool {
	return slices.Contains([]string{"gpu-exporter", "node"}, template.Spec.Containers[0].Name)
}

// target is a cluster for a release.
type target struct {
	*cluster.Cluster
	dynamic dynamic.Interface
	mapper  meta.ResettableRESTMapper
}

// prepare makes the namespaces that values name.
func prepare(t *testing.T, c *cluster.Cluster) *target {
	t.Helper()
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // of the exporter's pod, and of lists of all that there is
	k := &target{Cluster: c, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Client.Discovery()))}
	var err error
	if k.dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{namespace, "training", "monitoring"} {
		labels := map[string]string{}
		if name == namespace {
			labels["pod-security.kubernetes.io/enforce"] = "restricted"
		}
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		if _, err := c.Client.CoreV1().Namespaces().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// resource is where an object is, or is to be.
func (k *target) resource(t *testing.T, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	m, err := k.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		t.Fatalf("%s: %v", o.GetName(), err)
	}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return k.dynamic.Resource(m.Resource).Namespace(o.GetNamespace())
	}
	return k.dynamic.Resource(m.Resource)
}

// dryRun has the server apply an object, with no field that it does not know, and keep nothing. A pod that is made of it must be one that the namespace lets in.
func (k *target) dryRun(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	b, err := yaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	force := true
	apply := metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict, Force: &force, DryRun: []string{metav1.DryRunAll}}
	if _, err := k.resource(t, o).Patch(t.Context(), o.GetName(), types.ApplyYAMLPatchType, b, apply); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	template, ok := templateOf(o)
	if !ok {
		return
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: template.Labels}, Spec: template.Spec}
	_, err = k.Client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if special := ofNode(template); special && (err == nil || !strings.Contains(err.Error(), "violates PodSecurity")) || !special && err != nil {
		t.Errorf("%s in a namespace that lets in restricted pods: %v", o.GetName(), err)
	}
	pod.Spec.Containers[0].Name += "-in-default"
	if _, err := k.Client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("%s: %v", o.GetName(), err)
	}
}

// define gives the cluster the resources of the Prometheus operator and of cert-manager: their own.
func (k *target) define(t *testing.T) {
	t.Helper()
	for _, file := range definitions(t) {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(read(t, file), &o.Object); err != nil {
			t.Fatal(err)
		}
		at := k.resource(t, &o)
		if _, err := at.Create(t.Context(), &o, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			now, err := at.Get(ctx, o.GetName(), metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
			return slices.ContainsFunc(conditions, func(c any) bool {
				return c.(map[string]any)["type"] == "Established" && c.(map[string]any)["status"] == "True"
			}), nil
		}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	k.mapper.Reset()
	for _, api := range operators {
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) { return served(k.Client, api) }); err != nil {
			t.Fatalf("%s: %v", api, err)
		}
	}
}

func served(c kubernetes.Interface, api string) (bool, error) {
	groups, err := c.Discovery().ServerGroups()
	if err != nil {
		return false, err
	}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if v.GroupVersion == api {
				l, err := c.Discovery().ServerResourcesForGroupVersion(api)
				if err != nil {
					return false, fmt.Errorf("%w, although it is among the groups", errors.Unwrap(err))
				}
				return len(l.APIResources) > 0, nil
			}
		}
	}
	return false, nil
}
