package dra

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// exactly is a request of so many cards that a CEL expression is true of, and of so much of each.
func exactly(count int64, cel string, capacity ...string) *resourceapi.ExactDeviceRequest {
	r := &resourceapi.ExactDeviceRequest{DeviceClassName: "gpu.rocwire.io", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: count}
	if cel != "" {
		r.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: cel}}}
	}
	for i := 0; i+1 < len(capacity); i += 2 {
		if r.Capacity == nil {
			r.Capacity = &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{}}
		}
		r.Capacity.Requests[resourceapi.QualifiedName(capacity[i])] = resource.MustParse(capacity[i+1])
	}
	return r
}

// arch is true of cards with a gfx target.
func arch(gfx string) string { return `device.attributes["rocwire.io"].gfxTarget == "` + gfx + `"` }

// on is true of the cards of a worker.
func on(worker string) string { return `device.attributes["rocwire.io"].worker == "` + worker + `"` }

// claim creates one for pods to share.
func (s *site) claim(t *testing.T, name string, requests ...resourceapi.DeviceRequest) {
	t.Helper()
	c := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Devices.Requests = requests
	if _, err := s.Client.ResourceV1().ResourceClaims(namespace).Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// one is a claim's only request.
func one(r *resourceapi.ExactDeviceRequest) resourceapi.DeviceRequest {
	return resourceapi.DeviceRequest{Name: "gpu", Exactly: r}
}

// pod creates one that runs as a user and uses some claims; a name with a star before is that of a template.
func (s *site) pod(t *testing.T, name, node string, claims ...string) {
	t.Helper()
	s.podOf(t, []string{"/pause"}, name, node, claims...)
}

// podOf creates one that runs a command of its image.
func (s *site) podOf(t *testing.T, command []string, name, node string, claims ...string) {
	t.Helper()
	user := int64(1234)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}, HostNetwork: true, Containers: []corev1.Container{{Name: "c", Image: image, Command: command}},
	}}
	if node != "" {
		p.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": node}
	}
	for i, c := range claims {
		r := corev1.PodResourceClaim{Name: fmt.Sprint("c", i), ResourceClaimName: &c}
		if template, ok := strings.CutPrefix(c, "*"); ok {
			r.ResourceClaimName, r.ResourceClaimTemplateName = nil, &template
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, r)
		p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, corev1.ResourceClaim{Name: r.Name})
	}
	if _, err := s.Client.CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// allocated is where a claim's cards are.
func (s *site) allocated(t *testing.T, claim string) (workers []string, cards []string) {
	t.Helper()
	c, err := s.Client.ResourceV1().ResourceClaims(namespace).Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Status.Allocation == nil {
		t.Fatalf("claim %s is not allocated", claim)
	}
	for _, r := range c.Status.Allocation.Devices.Results {
		workers, cards = append(workers, r.Pool), append(cards, r.Pool+"/"+r.Device)
	}
	return workers, cards
}

// waits waits until the scheduler has said that a pod cannot be scheduled.
func (s *site) waits(t *testing.T, pod string) {
	t.Helper()
	eventually(t, "pod "+pod+" has to wait", func(ctx context.Context) bool {
		p, err := s.Client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return false
		}
		if p.Spec.NodeName != "" {
			t.Fatalf("pod %s is on %s", pod, p.Spec.NodeName)
		}
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
	})
}

// free waits until a claim is nobody's.
func (s *site) free(t *testing.T, claim string) {
	t.Helper()
	eventually(t, "claim "+claim+" is given back", func(ctx context.Context) bool {
		c, err := s.Client.ResourceV1().ResourceClaims(namespace).Get(ctx, claim, metav1.GetOptions{})
		return err == nil && c.Status.Allocation == nil
	})
}

// devices are the cards of the cluster's slices without a taint.
func (s *site) devices(ctx context.Context, tainted bool) (list []string) {
	slices, err := s.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for _, x := range slices.Items {
		for _, d := range x.Spec.Devices {
			if (len(d.Taints) > 0) == tainted {
				list = append(list, x.Spec.Pool.Name+"/"+d.Name)
			}
		}
	}
	return list
}

// left counts what a driver keeps of claims, also of those that are still to be taken back from a worker.
func (k *kubelet) left(t *testing.T) (n int) {
	t.Helper()
	for _, dir := range []string{k.CDI, k.state() + "/claims", k.state() + "/notes", k.state() + "/revoke"} {
		list, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += len(list)
	}
	return n
}

// TestClaims: pods on nodes without a GPU use cards of workers elsewhere, which the scheduler has chosen by what their claims say.
func TestClaims(t *testing.T) {
	s := newSite(t)
	a, b := s.newKubelet(t, "127.0.0.2"), s.newKubelet(t, "127.0.0.3")
	eventually(t, "all cards are published", func(ctx context.Context) bool { return len(s.devices(ctx, false)) == 4 })
	sees := func(t *testing.T, r *running, want string) {
		t.Helper()
		out, err := r.output(t, "/hello_hip")
		if err != nil || !strings.Contains(out, want) || !strings.Contains(out, "PASSED: 1048576 elements") || strings.Contains(out, "rocwire:") {
			t.Errorf("%s: %v, want %q:\n%s", r.pod.Name, err, want, out)
		}
	}

	t.Run("two cards of a kind", func(t *testing.T) {
		s.claim(t, "pair", one(exactly(2, arch("gfx942"))))
		s.pod(t, "pair", a.Name, "pair")
		r := a.admit(t, "pair")
		if w, _ := s.allocated(t, "pair"); !slices.Equal(w, []string{"w1", "w1"}) {
			t.Errorf("cards of %q", w)
		}
		sees(t, r, "2 devices; device 0: AMD Instinct MI300X")
		stolen := a.steal(t)
		if out, err := stolen(); err != nil || !strings.Contains(out, "PASSED") {
			t.Errorf("with a copy of its token: %v\n%s", err, out)
		}
		// They are taken.
		s.claim(t, "third", one(exactly(1, arch("gfx942"))))
		s.pod(t, "third", b.Name, "third")
		s.waits(t, "third")
		r.end(t)
		if out, err := stolen(); err == nil || strings.Contains(out, "PASSED") {
			t.Errorf("the token is still good:\n%s", out)
		}
		next := b.admit(t, "third")
		sees(t, next, "1 device; ")
		next.end(t)
		s.free(t, "pair")
		s.free(t, "third")
	})

	t.Run("what the page says", func(t *testing.T) {
		blocks := regexp.MustCompile("(?ms)^```yaml (pod|half|near)\\.yaml\n(.*?)^```$").FindAllStringSubmatch(read(t, top+"/docs/dra.md"), -1)
		if len(blocks) != 3 {
			t.Fatalf("%q", blocks)
		}
		for _, b := range blocks {
			s.apply(t, strings.NewReplacer("YOUR-IMAGE", image, "restartPolicy: Never", "restartPolicy: Never\n  hostNetwork: true").Replace(b[2])) // the only network that there is
		}
		p, err := s.Client.CoreV1().Pods(namespace).Get(t.Context(), "train", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		k := map[string]*kubelet{a.Name: a, b.Name: b}
		eventually(t, "it is scheduled", func(ctx context.Context) bool {
			p, err = s.Client.CoreV1().Pods(namespace).Get(ctx, "train", metav1.GetOptions{})
			return err == nil && p.Spec.NodeName != ""
		})
		r := k[p.Spec.NodeName].admit(t, "train")
		if out := r.printed(t); !strings.HasPrefix(out, "1 device; device 0: AMD Instinct MI300X") || !strings.Contains(out, "PASSED: 1048576 elements") || strings.Contains(out, "rocwire:") {
			t.Errorf("its log:\n%s", out)
		}
		r.end(t)
		// There is no worker of the name that the page has: it is anywhere.
		s.pod(t, "near", a.Name, "*near")
		r = a.admit(t, "near")
		sees(t, r, "1 device; ")
		r.end(t)
		for _, name := range []string{"half", "near"} {
			if err := s.Client.ResourceV1().ResourceClaimTemplates(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})

	t.Run("parts of a card", func(t *testing.T) {
		template := &resourceapi.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: "half"}}
		template.Spec.Spec.Devices.Requests = []resourceapi.DeviceRequest{one(exactly(1, on("w0"), "share", "50", "memory", "512Mi"))}
		if _, err := s.Client.ResourceV1().ResourceClaimTemplates(namespace).Create(t.Context(), template, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var pods []*running
		for i := range 4 {
			name, k := fmt.Sprint("half", i), []*kubelet{a, b}[i%2]
			s.pod(t, name, k.Name, "*half")
			pods = append(pods, k.admit(t, name))
		}
		shares := map[string]int{}
		for _, r := range pods {
			sees(t, r, ", 0.5 GiB")
			_, cards := s.allocated(t, r.claims["c0"])
			shares[cards[0]]++
		}
		if len(shares) != 2 || slices.ContainsFunc(slices.Collect(maps.Values(shares)), func(n int) bool { return n != 2 }) {
			t.Errorf("parts of %v", shares)
		}
		s.pod(t, "half4", "", "*half")
		s.waits(t, "half4")
		pods[0].end(t)
		s.remove(t, "half4")
		for _, r := range pods[1:] {
			r.end(t)
		}
	})

	t.Run("a claim that pods share", func(t *testing.T) {
		s.claim(t, "shared", one(exactly(1, arch("gfx90a"))))
		s.pod(t, "first", a.Name, "shared")
		s.pod(t, "second", b.Name, "shared")
		first, second := a.admit(t, "first"), b.admit(t, "second")
		sees(t, first, "1 device; ")
		sees(t, second, "1 device; ")
		first.end(t)
		sees(t, second, "1 device; ") // it ended on one node only
		second.end(t)
		s.free(t, "shared")
	})

	t.Run("held to a part", func(t *testing.T) {
		takes := func(r *running, mib int, result string) {
			t.Helper()
			out, err := r.output(t, "/takes", fmt.Sprint(mib))
			if (err == nil) != (result == "hipSuccess") || strings.TrimSpace(out) != fmt.Sprintf("%d of 256 MiB: %s", mib, result) {
				t.Errorf("%s takes %d MiB: %v, not %s:\n%s", r.pod.Name, mib, err, result, out)
			}
		}
		const no = "hipErrorOutOfMemory"
		for _, name := range []string{"part", "apart"} {
			s.claim(t, name, one(exactly(1, on("w0"), "share", "50", "memory", "256Mi")))
		}
		s.podOf(t, []string{"/takes", "150", "stay"}, "holds", a.Name, "part")
		s.pod(t, "beside", b.Name, "part")
		s.pod(t, "alone", b.Name, "apart")
		holds, beside, alone := a.admit(t, "holds"), b.admit(t, "beside"), b.admit(t, "alone")
		eventually(t, "it has what it takes", func(ctx context.Context) bool {
			out, err := holds.log(ctx)
			return err == nil && out == "150 of 256 MiB: hipSuccess"
		})
		takes(holds, 60, "hipSuccess") // another program of the container, beside what that keeps for its next allocations
		takes(holds, 120, no)
		takes(beside, 60, "hipSuccess") // one of another pod of the claim, on another node
		takes(beside, 120, no)
		takes(alone, 250, "hipSuccess") // one of another claim
		takes(alone, 260, no)
		holds.end(t)
		takes(beside, 250, "hipSuccess")
		takes(beside, 260, no)
		beside.end(t)
		alone.end(t)
		s.free(t, "part")
		s.free(t, "apart")
	})

	t.Run("two claims in one container", func(t *testing.T) {
		s.claim(t, "here", one(exactly(1, on("w0"))))
		s.claim(t, "there", one(exactly(1, on("w1"))))
		s.pod(t, "both", a.Name, "here", "there")
		r := a.admit(t, "both")
		sees(t, r, "2 devices; ")
		r.end(t)
		s.free(t, "here")
		s.free(t, "there")
	})

	t.Run("rather one than the other", func(t *testing.T) {
		prefer := resourceapi.DeviceRequest{Name: "gpu"}
		for _, w := range []string{"w1", "w0"} {
			e := exactly(1, on(w))
			prefer.FirstAvailable = append(prefer.FirstAvailable, resourceapi.DeviceSubRequest{
				Name: w, DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count,
			})
		}
		var pods []*running
		for i, want := range []string{"w1", "w1", "w0"} {
			name := fmt.Sprint("prefer", i)
			s.claim(t, name, prefer)
			s.pod(t, name, a.Name, name)
			r := a.admit(t, name)
			if w, _ := s.allocated(t, name); !slices.Equal(w, []string{want}) {
				t.Errorf("%s has a card of %q, not %s", name, w, want)
			}
			sees(t, r, "1 device; ")
			pods = append(pods, r)
		}
		for i, r := range pods {
			r.end(t)
			s.free(t, fmt.Sprint("prefer", i))
		}
	})

	t.Run("who says nothing", func(t *testing.T) {
		// The scheduler takes the first that fits, in the order of the pools' names: with two cards each, the third claim is the first for w1.
		var pods []*running
		for i, want := range []string{"w0", "w0", "w1"} {
			name := fmt.Sprint("first", i)
			s.claim(t, name, one(exactly(1, "")))
			s.pod(t, name, a.Name, name)
			pods = append(pods, a.admit(t, name))
			if w, _ := s.allocated(t, name); !slices.Equal(w, []string{want}) {
				t.Errorf("%s has a card of %q, not %s", name, w, want)
			}
		}
		for i, r := range pods {
			r.end(t)
			s.free(t, fmt.Sprint("first", i))
		}
	})

	t.Run("a worker that is away", func(t *testing.T) {
		s.claim(t, "stays", one(exactly(1, on("w1"))))
		s.pod(t, "stays", a.Name, "stays")
		r := a.admit(t, "stays")
		s.workers[1].stop()
		eventually(t, "its cards have a taint", func(ctx context.Context) bool { return len(s.devices(ctx, true)) == 2 })
		s.claim(t, "any", one(exactly(1, "")))
		s.pod(t, "any", a.Name, "any")
		other := a.admit(t, "any")
		if w, _ := s.allocated(t, "any"); !slices.Equal(w, []string{"w0"}) {
			t.Errorf("a card of %q", w)
		}
		other.end(t)
		s.claim(t, "waits", one(exactly(1, arch("gfx942"))))
		s.pod(t, "waits", b.Name, "waits")
		s.waits(t, "waits")
		if p, err := s.Client.CoreV1().Pods(namespace).Get(t.Context(), "stays", metav1.GetOptions{}); err != nil || p.DeletionTimestamp != nil {
			t.Errorf("the pod whose worker is away: %v", err)
		}
		r.end(t) // nobody has to wait for the worker
		s.workers[1].start()
		last := b.admit(t, "waits")
		sees(t, last, "1 device; ")
		last.end(t)
		eventually(t, "the token is taken back", func(context.Context) bool { return a.left(t) == 0 })
	})

	for _, k := range []*kubelet{a, b} {
		eventually(t, "nothing is left on a node", func(context.Context) bool { return k.left(t) == 0 })
	}
}
