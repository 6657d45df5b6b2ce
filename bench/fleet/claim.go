package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// claims are those that are made one after the other, of each kind.
const claims = 10

// claim measures how long the scheduler needs for claims of one card among all.
func (b *bench) claim(ctx context.Context, client kubernetes.Interface, n int) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, kind := range []struct{ subject, cel string }{
		{"scheduler: a claim of any card", ""},
		{"scheduler: a claim of a card of one worker", fmt.Sprintf(`device.attributes["%s"].worker == "%s"`, driver, b.lastPool(n))},
	} {
		var took []time.Duration
		var names []string
		done := b.around()
		count := claims
		if kind.cel != "" {
			count = cardsOf / 2 // one worker has no more
		}
		for i := range count {
			name := fmt.Sprintf("fleet-%d-%d-%d", n, len(kind.cel), i)
			names = append(names, name)
			t, err := b.claimOne(ctx, client, name, kind.cel)
			if err != nil {
				return fmt.Errorf("%s, of %d: %w", kind.subject, n, err)
			}
			took = append(took, t)
		}
		slices.Sort(took)
		b.add(row{subject: kind.subject, workers: n, time: took[len(took)/2], note: fmt.Sprintf("%d cards, %d nodes, each of which reaches all of them; median of %d", n*cardsOf, len(nodes.Items), count)})
		done(n, kind.subject, count)
		for _, name := range names {
			if err := release(ctx, client, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// release gives a claim's card back, which a controller does in a whole cluster: what is measured next finds all cards free.
func release(ctx context.Context, client kubernetes.Interface, name string) error {
	if err := client.CoreV1().Pods(corev1.NamespaceDefault).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		return err
	}
	all := client.ResourceV1().ResourceClaims(corev1.NamespaceDefault)
	c, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	c.Status = resourceapi.ResourceClaimStatus{}
	if c, err = all.UpdateStatus(ctx, c, metav1.UpdateOptions{}); err != nil {
		return err
	}
	c.Finalizers = nil
	if _, err = all.Update(ctx, c, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return all.Delete(ctx, name, metav1.DeleteOptions{})
}

// lastPool is the pool of n workers that the scheduler comes to last: it goes by their names.
func (b *bench) lastPool(n int) string {
	last := ""
	for i := range n {
		last = max(last, pool(i, b.port))
	}
	return last
}

// pool is the name that rocwire-dra gives a worker's.
func pool(i int, port string) string {
	name := []byte(address(i, port))
	for j, c := range name {
		if c == ':' {
			name[j] = '-'
		}
	}
	return string(name)
}

// claimOne has a pod with a claim scheduled, and says how long that took.
func (b *bench) claimOne(ctx context.Context, client kubernetes.Interface, name, cel string) (took time.Duration, err error) {
	request := &resourceapi.ExactDeviceRequest{DeviceClassName: "gpu." + driver}
	if cel != "" {
		request.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: cel}}}
	}
	c := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Devices.Requests = []resourceapi.DeviceRequest{{Name: "gpu", Exactly: request}}
	if _, err := client.ResourceV1().ResourceClaims(corev1.NamespaceDefault).Create(ctx, c, metav1.CreateOptions{}); err != nil {
		return 0, err
	}
	pods := client.CoreV1().Pods(corev1.NamespaceDefault)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}},
		Containers:     []corev1.Container{{Name: "c", Image: "none", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}},
	}}
	begin := time.Now()
	if p, err = pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return 0, err
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: p.ResourceVersion})
	if err != nil {
		return 0, err
	}
	defer w.Stop()
	late := time.After(b.patience)
	var last []corev1.PodCondition
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return 0, errors.New("the API server has ended the watch")
			}
			if p, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Deleted {
				if last = p.Status.Conditions; p.Spec.NodeName != "" {
					return time.Since(begin), nil
				}
			}
		case <-late:
			return 0, fmt.Errorf("the pod is not scheduled: %v", last)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
