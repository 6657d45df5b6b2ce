package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// eventually waits until it is so; what it waits for is said if the test ends before.
func eventually(t *testing.T, what string, so func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextCancel(t.Context(), 100*time.Millisecond, true, so); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestControlPlane: a deployment gets its pods, and they get a node; what is deleted takes along what it owns.
func TestControlPlane(t *testing.T) {
	c := Start(t, Options{Scheduler: true, Controllers: true})
	v, err := c.Client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if wanted, err := version(t.Context()); err != nil || v.GitVersion != wanted {
		t.Errorf("the server is %s, built was %s (%v)", v.GitVersion, wanted, err)
	}
	c.Node(t, "only", nil)
	labels := map[string]string{"app": "x"}
	replicas := int32(2)
	_, err = c.Client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "x"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := func(ctx context.Context) (scheduled int) {
		list, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=x"})
		if err != nil {
			return -1
		}
		for _, p := range list.Items {
			if p.Spec.NodeName == "only" {
				scheduled++
			}
		}
		return scheduled
	}
	eventually(t, "two pods are scheduled", func(ctx context.Context) (bool, error) { return pods(ctx) == 2, nil })
	if err := c.Client.AppsV1().Deployments("default").Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pods are deleted", func(ctx context.Context) (bool, error) {
		list, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=x"})
		if err != nil {
			return false, err
		}
		for _, p := range list.Items { // a node's kubelet says when a pod has ended: there is none
			if p.DeletionTimestamp != nil {
				now := int64(0)
				_ = c.Client.CoreV1().Pods("default").Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}) // it may be gone
			}
		}
		return len(list.Items) == 0, nil
	})
}

// TestUsers: a certificate is somebody, with the rights of that name and no more.
func TestUsers(t *testing.T) {
	c := Start(t, Options{})
	if _, err := c.Client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigFor(t, "system:node:a", "system:nodes"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:node:a") {
		t.Errorf("a node lists all secrets: %v", err)
	}
}
