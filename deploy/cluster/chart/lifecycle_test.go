package chart

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/deploy/cluster"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
)

// actions are helm's, of a new process each.
func (k *target) actions(t *testing.T) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = &k.Kubeconfig
	ns := namespace
	flags.Namespace = &ns
	c := action.NewConfiguration()
	if err := c.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return c
}

func (k *target) install(t *testing.T, values map[string]any) error {
	t.Helper()
	i := action.NewInstall(k.actions(t))
	i.ReleaseName, i.Namespace, i.WaitStrategy, i.Timeout = release, namespace, kubeWait, time.Minute
	_, err := i.RunWithContext(t.Context(), loaded(t), values)
	return err
}

func (k *target) upgrade(t *testing.T, values map[string]any) {
	t.Helper()
	u := action.NewUpgrade(k.actions(t))
	u.Namespace, u.WaitStrategy, u.Timeout = namespace, kubeWait, time.Minute
	if _, err := u.RunWithContext(t.Context(), release, loaded(t), values); err != nil {
		t.Fatal(err)
	}
}

func (k *target) rollback(t *testing.T, revision int) {
	t.Helper()
	r := action.NewRollback(k.actions(t))
	r.Version, r.WaitStrategy, r.Timeout, r.ServerSideApply = revision, kubeWait, time.Minute, "auto"
	if err := r.Run(release); err != nil {
		t.Fatal(err)
	}
}

func (k *target) uninstall(t *testing.T) {
	t.Helper()
	u := action.NewUninstall(k.actions(t))
	u.WaitStrategy, u.Timeout, u.DeletionPropagation = kubeWait, time.Minute, "background"
	if _, err := u.Run(release); err != nil {
		t.Fatal(err)
	}
}

// test is helm test, with a pod that ends so: there is no kubelet that would run it. What its command does is in TestWorkerRuns.
func (k *target) test(t *testing.T, phase corev1.PodPhase) error {
	t.Helper()
	pods := k.Client.CoreV1().Pods(namespace)
	ended := make(chan error, 1)
	go func() {
		ended <- wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			p, err := pods.Get(ctx, "rocwire-test", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil
			} else if err != nil {
				return false, err
			}
			if p.Labels["rocwire.dev/client"] != "true" {
				t.Errorf("the network's policy does not let it reach a worker: %v", p.Labels)
			}
			p.Status.Phase = phase
			_, err = pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
			if apierrors.IsConflict(err) {
				return false, nil
			}
			return err == nil, err
		})
	}()
	r := action.NewReleaseTesting(k.actions(t))
	r.Namespace, r.Timeout = namespace, time.Minute
	_, shutdown, err := r.Run(release)
	if shutdown != nil {
		err = errors.Join(err, shutdown())
	}
	if e := <-ended; e != nil {
		t.Errorf("no pod of helm test ends: %v", e)
	}
	return err
}

// kubeWait: there is no kubelet, so that nothing that is made gets ready.
const kubeWait = kube.HookOnlyStrategy

// serversOwn are resources that come and go by themselves, some of them only after the server has said that it is ready.
var serversOwn = []string{
	"events", "leases", "namespaces", "apiservices", "flowschemas", "prioritylevelconfigurations", "priorityclasses", "servicecidrs", "ipaddresses",
}

// everything are the names of all that is in the cluster, but what is the server's own.
func (k *target) everything(t *testing.T) []string {
	t.Helper()
	lists, err := k.Client.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, l := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.APIResources {
			if slices.Contains(serversOwn, r.Name) {
				continue
			}
			o, err := k.dynamic.Resource(gv.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			for _, x := range o.Items {
				if !strings.HasPrefix(x.GetNamespace(), "kube-") && x.GetNamespace() != "default" && !strings.HasPrefix(x.GetName(), "system:") {
					all[r.Name+"/"+x.GetNamespace()+"/"+x.GetName()] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// less is what of one is not in the other.
func less(a, b []string) (rest []string) {
	for _, x := range a {
		if !slices.Contains(b, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// secrets are what the release's Secrets hold.
func (k *target) secrets(t *testing.T) map[string]corev1.Secret {
	t.Helper()
	l, err := k.Client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + release})
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]corev1.Secret{}
	for _, s := range l.Items {
		m[s.Name] = s
	}
	return m
}

// TestLifecycle: a release is installed, upgraded, rolled back and uninstalled in a real cluster: keys stay as long as they should, and nothing stays of it.
func TestLifecycle(t *testing.T) {
	k := prepare(t, cluster.Start(t, cluster.Options{}))
	empty := k.everything(t)

	// What needs another's definitions says so, where they are not.
	for needs, dotted := range map[string]map[string]any{
		"no Prometheus operator": {"metrics.serviceMonitor.enabled": true}, "metrics.rules.enabled": {"metrics.rules.enabled": true}, "no cert-manager": {"tls.source": "certManager"},
	} {
		if err := k.install(t, set(dotted)); err == nil || !strings.Contains(err.Error(), needs) || !strings.Contains(err.Error(), "install it first") {
			t.Errorf("%v: %v", dotted, err)
		}
	}
	if left := less(k.everything(t), empty); len(left) > 0 {
		t.Fatalf("what was not installed left %v", left)
	}
	k.define(t)
	empty = k.everything(t)

	all := map[string]any{
		"exporter.enabled": true, "metrics.serviceMonitor.enabled": true, "metrics.rules.enabled": true, "metrics.prometheus.serviceAccount": "p", "dashboards.enabled": true,
		"dashboards.namespace": "monitoring", "dra.enabled": true, "clients.namespaces": []any{"training"}, "worker.backend": "sim", "worker.podDisruptionBudget.enabled": true,
	}
	if err := k.install(t, set(all)); err != nil {
		t.Fatal(err)
	}
	installed := k.everything(t)
	for _, name := range []string{
		"deployments/gpus/rocwire-worker", "daemonsets/gpus/rocwire-exporter", "services/gpus/rocwire-worker", "secrets/gpus/rocwire-ca", "secrets/gpus/rocwire-worker-tls",
		"secrets/gpus/rocwire-metrics", "configmaps/training/rocwire-ca", "configmaps/gpus/rocwire-ca", "configmaps/monitoring/rocwire-dashboard-gpu",
		"servicemonitors/gpus/rocwire-worker", "prometheusrules/gpus/rocwire-alerts", "networkpolicies/gpus/rocwire-exporter", "poddisruptionbudgets/gpus/rocwire-worker",
		"deviceclasses//gpu.rocwire.io", "daemonsets/gpus/rocwire-dra-node", "clusterroles//rocwire-dra-publisher",
	} {
		if !slices.Contains(installed, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for phase, passes := range map[corev1.PodPhase]bool{corev1.PodSucceeded: true, corev1.PodFailed: false} {
		if err := k.test(t, phase); (err == nil) != passes {
			t.Errorf("helm test, of a pod that has %s: %v", phase, err)
		}
	}
	if more := less(k.everything(t), installed); len(more) > 0 {
		t.Errorf("helm test has left %v", more)
	}
	first := k.secrets(t)
	if len(first) != 4 {
		t.Fatalf("%d secrets", len(first))
	}

	// An upgrade that changes nothing changes no key.
	k.upgrade(t, set(all))
	same := func(what string, names ...string) {
		t.Helper()
		now := k.secrets(t)
		for _, n := range names {
			if !maps.EqualFunc(first[n].Data, now[n].Data, slices.Equal) {
				t.Errorf("%s: %s is another", what, n)
			}
		}
	}
	same("the same values", slices.Collect(maps.Keys(first))...)

	// A further name wants another certificate, of the same CA; an old certificate, too.
	all["tls.workerNames"] = []any{"gpu.example.com"}
	k.upgrade(t, set(all))
	same("a further name", "rocwire-ca", "rocwire-metrics", "rocwire-exporter-tls")
	second := k.secrets(t)["rocwire-worker-tls"]
	if slices.Equal(second.Data["tls.crt"], first["rocwire-worker-tls"].Data["tls.crt"]) || !slices.Equal(second.Data["ca.crt"], first["rocwire-ca"].Data["tls.crt"]) {
		t.Error("a further name, and the certificate is the same, or of another CA")
	}
	if cert := certificate(t, second.Data["tls.crt"]); cert.VerifyHostname("gpu.example.com") != nil || cert.VerifyHostname("rocwire-worker.gpus.svc") != nil {
		t.Errorf("the certificate is for %v", cert.DNSNames)
	}
	old := second.DeepCopy()
	old.Annotations["rocwire.dev/renew-after"] = "1700000000"
	if _, err := k.Client.CoreV1().Secrets(namespace).Update(t.Context(), old, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	u := set(all)
	k.force(t, u)
	same("an old certificate", "rocwire-ca", "rocwire-metrics", "rocwire-exporter-tls")
	third := k.secrets(t)["rocwire-worker-tls"]
	if slices.Equal(third.Data["tls.crt"], second.Data["tls.crt"]) || certificate(t, third.Data["tls.crt"]).NotAfter.Before(certificate(t, second.Data["tls.crt"]).NotAfter) {
		t.Error("an old certificate was not renewed")
	}

	// What is switched off goes, and comes back.
	k.upgrade(t, set(map[string]any{"worker.enabled": false, "exporter.enabled": true}))
	for _, name := range k.everything(t) {
		if strings.Contains(name, "rocwire-worker") || strings.HasPrefix(name, "configmaps/monitoring/") || strings.Contains(name, "/training/rocwire") {
			t.Errorf("%s stayed", name)
		}
	}
	k.rollback(t, 1)
	if missing := less(installed, k.everything(t)); len(missing) > 0 {
		t.Errorf("rolled back, without %v", missing)
	}
	same("rolled back", slices.Collect(maps.Keys(first))...)
	k.uninstall(t)
	if left := less(k.everything(t), empty); len(left) > 0 {
		t.Errorf("uninstalled, and there is %v", left)
	}

	// The values of the golden files, too.
	for _, dotted := range []map[string]any{
		{}, {"tls.source": "certManager", "exporter.enabled": true}, {"tls.source": "existing", "tls.existing.workerSecret": "mine", "metrics.existingSecret": "mine"},
	} {
		if err := k.install(t, set(dotted)); err != nil {
			t.Fatalf("%v: %v", dotted, err)
		}
		k.upgrade(t, set(all))
		k.upgrade(t, set(dotted))
		k.uninstall(t)
		if left := less(k.everything(t), empty); len(left) > 0 {
			t.Errorf("%v: uninstalled, and there is %v", dotted, left)
		}
	}
	if gone := less(empty, k.everything(t)); len(gone) > 0 {
		t.Errorf("gone is what was there before: %v", gone)
	}
}

// force upgrades over what somebody else has written.
func (k *target) force(t *testing.T, values map[string]any) {
	t.Helper()
	u := action.NewUpgrade(k.actions(t))
	u.Namespace, u.WaitStrategy, u.Timeout, u.ForceConflicts = namespace, kubeWait, time.Minute, true
	if _, err := u.RunWithContext(t.Context(), release, loaded(t), values); err != nil {
		t.Fatal(err)
	}
}
