package chart

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

// Where the chart is, and how tests install it.
const (
	folder    = "../../helm/rocwire"
	release   = "rocwire"
	namespace = "gpus"
)

// operators are what a cluster knows that has the Prometheus operator and cert-manager.
var operators = []string{"monitoring.coreos.com/v1", "cert-manager.io/v1"}

var load = sync.OnceValues(func() (*chart.Chart, error) { return loader.LoadDir(folder) })

func loaded(t testing.TB) *chart.Chart {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// objects of a release.
type objects []*unstructured.Unstructured

// of are those of a kind.
func (o objects) of(kind string) (found objects) {
	for _, x := range o {
		if x.GetKind() == kind {
			found = append(found, x)
		}
	}
	return found
}

// one is the only one of that kind and name.
func (o objects) one(t testing.TB, kind, name string) *unstructured.Unstructured {
	t.Helper()
	var found objects
	for _, x := range o.of(kind) {
		if x.GetName() == name {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d of %s %s", len(found), kind, name)
	}
	return found[0]
}

// set makes values of dotted names: worker.backend.
func set(dotted map[string]any) map[string]any {
	values := map[string]any{}
	for name, v := range dotted {
		at := values
		parts := strings.Split(name, ".")
		for _, p := range parts[:len(parts)-1] {
			if at[p] == nil {
				at[p] = map[string]any{}
			}
			at = at[p].(map[string]any)
		}
		at[parts[len(parts)-1]] = v
	}
	return values
}

// lookups answers the chart's look-ups.
type lookups struct{ dynamic.Interface }

func (c lookups) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return c.Resource(schema.FromAPIVersionAndKind(apiVersion, kind).GroupVersion().WithResource(strings.ToLower(kind) + "s")), true, nil
}

// having is a cluster in which that is.
func having(have objects) lookups {
	all := []runtime.Object{}
	for _, o := range have {
		all = append(all, o)
	}
	return lookups{fake.NewSimpleDynamicClient(runtime.NewScheme(), all...)}
}

// rendered are the documents that the templates make of values, in a cluster that has these objects and APIs, and the notes.
func rendered(t testing.TB, values map[string]any, have lookups, apis []string) (documents []string, notes string, err error) {
	t.Helper()
	return renderedOf(t, values, have, apis, false)
}

// renderedOf can do without the schema, which takes a third of the time.
func renderedOf(t testing.TB, values map[string]any, have lookups, apis []string, unchecked bool) (documents []string, notes string, err error) {
	t.Helper()
	caps := common.DefaultCapabilities.Copy()
	caps.APIVersions = append(slices.Clone(caps.APIVersions), apis...)
	all, err := util.ToRenderValuesWithSchemaValidation(loaded(t), values, common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}, caps, unchecked)
	if err != nil {
		return nil, "", err
	}
	files, err := engine.RenderWithClientProvider(loaded(t), all, have)
	if err != nil {
		return nil, "", err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			notes = files[name]
			continue
		}
		for d := range strings.SplitSeq("\n"+files[name], "\n---\n") {
			if d = strings.TrimSpace(d); d != "" {
				documents = append(documents, d+"\n")
			}
		}
	}
	return documents, notes, nil
}

// parse is the object of a document.
func parse(t testing.TB, document string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.UnmarshalStrict([]byte(document), &o.Object); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return &o
}

// render is rendered, for values that must be right.
func render(t testing.TB, values map[string]any, have objects) (all objects) {
	t.Helper()
	documents, _, err := rendered(t, values, having(have), operators)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		all = append(all, parse(t, d))
	}
	return all
}
