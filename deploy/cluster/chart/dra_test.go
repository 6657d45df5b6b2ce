package chart

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDRA: what the chart makes for Dynamic Resource Allocation is deploy/dra/kubernetes.yaml, which deploy/cluster/dra tries with a scheduler: but for labels,
// what images there are when, and that programs are named.
func TestDRA(t *testing.T) {
	made := render(t, set(map[string]any{"worker.enabled": false, "dra.enabled": true}), nil)
	n := 0
	for _, d := range strings.Split(string(read(t, "../../dra/kubernetes.yaml")), "\n---\n") {
		if !strings.Contains(d, "\nkind:") {
			continue
		}
		n++
		want := parse(t, d)
		have := made.one(t, want.GetKind(), want.GetName()).DeepCopy()
		for _, o := range []*unstructured.Unstructured{want, have} {
			plain(t, o)
		}
		if !reflect.DeepEqual(want.Object, have.Object) {
			t.Errorf("%s %s:\n%v\nof the chart:\n%v", want.GetKind(), want.GetName(), want.Object, have.Object)
		}
	}
	if n != 9 || len(made) != n {
		t.Errorf("%d objects, of the chart %d", n, len(made))
	}
}

// plain takes away what may differ.
func plain(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	unstructured.RemoveNestedField(o.Object, "metadata", "labels")
	unstructured.RemoveNestedField(o.Object, "metadata", "namespace")
	unstructured.RemoveNestedField(o.Object, "spec", "selector")
	unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata")
	if subjects, ok, _ := unstructured.NestedSlice(o.Object, "subjects"); ok {
		delete(subjects[0].(map[string]any), "namespace")
		o.Object["subjects"] = subjects
	}
	for _, which := range []string{"containers", "initContainers"} {
		list, ok, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", which)
		if !ok {
			continue
		}
		for _, c := range list {
			c := c.(map[string]any)
			delete(c, "imagePullPolicy")
			if which == "containers" {
				delete(c, "command") // the image's entry point
			}
			delete(c["securityContext"].(map[string]any), "privileged") // false is what it is anyway
		}
		if err := unstructured.SetNestedSlice(o.Object, list, "spec", "template", "spec", which); err != nil {
			t.Fatal(err)
		}
	}
}
