package discovery

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var inPod = env("KUBERNETES_SERVICE_HOST", "10.0.0.1", "KUBERNETES_SERVICE_PORT", "443")

func TestNames(t *testing.T) {
	for s, want := range map[string]string{
		"w.json": "file:w.json", "/etc/*.yml": "file:/etc/*.yml", `C:\w.json`: `file:C:\w.json`,
		"http://u:p@x/sd": "http://u:xxxxx@x/sd", "HTTPS://x/sd": "https://x/sd",
		"dns:_a._tcp.b": "dns:_a._tcp.b", "dns:///_a._tcp.b": "dns:_a._tcp.b", "dns://ns/_a._tcp.b": "dns://ns:53/_a._tcp.b", "dns://[::1]/a": "dns://[::1]:53/a",
		"kubernetes:rocwire/hip-worker": "kubernetes:rocwire/hip-worker", "kubernetes:rocwire?selector=a=b": "kubernetes:rocwire?selector=a=b",
		"kubernetes+http://127.0.0.1:8001/ns/svc": "kubernetes+http://127.0.0.1:8001/ns/svc", "kubernetes+http://u:p@h/ns?selector=a": "kubernetes+http://u:xxxxx@h/ns?selector=a",
		"consul+http://h:8500/gpu?dc=a": "consul+http://h:8500/v1/catalog/service/gpu?dc=a",
	} {
		o := Options{Getenv: inPod}
		o.defaults()
		src, err := o.open(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		} else if src.name() != want {
			t.Errorf("%s is %s, want %s", s, src.name(), want)
		}
	}
	for _, s := range []string{
		"", "[", "ftp://x", "http:", "http://", "http:sd", "http://x/#a", "dns:", "dns://ns", "dns:a b", "dns:a..b", "kubernetes:", "kubernetes:ns", "kubernetes:ns/a/b",
		"kubernetes:ns/svc?selector=a", "kubernetes:ns?other=1&selector=a", "kubernetes:../svc", "kubernetes:ns/SVC", "kubernetes+ftp://h/ns/svc", "kubernetes+http:///ns/svc",
		"consul+http://h:8500/", "consul+http://h:8500", "consul+http://h/a/b", "consul+ftp://h/a",
	} {
		if _, err := New(Options{Sources: []string{s}, Getenv: inPod}); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	if _, err := New(Options{Sources: []string{"kubernetes:ns/svc"}, Getenv: env()}); err == nil || !strings.Contains(err.Error(), "kubectl proxy") {
		t.Errorf("outside of a cluster: %v", err)
	}
}

func TestConsul(t *testing.T) {
	body := `[
 {"Node": "rack1-a", "Address": "10.0.0.7", "Datacenter": "dc1", "ServiceID": "w1", "ServiceAddress": "gpu-1.example", "ServicePort": 19000, "ServiceTags": ["mi300", "b"]},
 {"Node": "rack1-b", "Address": "10.0.0.8", "ServiceAddress": "", "ServicePort": 0},
 {"Node": "rack1-c", "Address": "no good"}]`
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/catalog/service/gpu workers" || r.URL.Query().Get("dc") != "dc1" || r.Header.Get("X-Consul-Token") != "s3cret" {
			t.Errorf("asked %v with %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer srv.Close()
	d, err := New(Options{Sources: []string{"consul+" + srv.URL + "/gpu%20workers?dc=dc1"}, Getenv: env("CONSUL_HTTP_TOKEN", "s3cret")})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	want := []Target{
		{"10.0.0.8:18515", map[string]string{"__meta_consul_node": "rack1-b", "__meta_consul_dc": "", "__meta_consul_service": "gpu workers", "__meta_consul_service_id": "", "__meta_consul_tags": ",,"}},
		{"gpu-1.example:19000", map[string]string{"__meta_consul_node": "rack1-a", "__meta_consul_dc": "dc1", "__meta_consul_service": "gpu workers", "__meta_consul_service_id": "w1", "__meta_consul_tags": ",mi300,b,"}},
	}
	if got := d.Targets(); !reflect.DeepEqual(got, want) || d.States()[0].Bad != 1 {
		t.Errorf("%v, %+v", got, d.States())
	}
	if got := d.Targets(); got[0].Name() != "rack1-b" {
		t.Errorf("it is called %q", got[0].Name())
	}
	for _, c := range []struct {
		status int
		body   string
	}{{http.StatusForbidden, "Permission denied"}, {http.StatusOK, "{}"}, {http.StatusOK, "["}, {http.StatusFound, ""}} {
		status, body = c.status, c.body
		d.Refresh(t.Context())
		if s := d.States()[0]; s.Err == "" || strings.Contains(s.Err, "s3cret") || len(d.Targets()) != 2 {
			t.Errorf("%d %q: %+v", c.status, c.body, s)
		}
	}
}

// sliceAPI is an API server that has EndpointSlices, n of them a page.
type sliceAPI struct {
	t        *testing.T
	selector string
	bearer   string
	pages    []string
}

func (s *sliceAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/rocwire/endpointslices" || q.Get("labelSelector") != s.selector || r.Header.Get("Authorization") != s.bearer {
		s.t.Errorf("asked %v with %v", r.URL, r.Header)
		http.NotFound(w, r)
		return
	}
	page := 0
	if c := q.Get("continue"); c != "" {
		_, _ = fmt.Sscanf(c, "page %d&", &page)
	}
	next := ""
	if page+1 < len(s.pages) {
		next = fmt.Sprintf("page %d&", page+1)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind": "EndpointSliceList", "metadata": {"continue": %q}, "items": [%s]}`, next, s.pages[page])
}

// slice is one EndpointSlice.
func slice(ports string, endpoints ...string) string {
	return `{"metadata": {"namespace": "rocwire", "labels": {"kubernetes.io/service-name": "hip-worker"}}, "addressType": "IPv4", "ports": [` + ports + `], "endpoints": [` + strings.Join(endpoints, ",") + `]}`
}

func endpoint(ip, node, pod string, ready bool) string {
	b, _ := json.Marshal(map[string]any{"addresses": []string{ip}, "nodeName": node, "conditions": map[string]any{"ready": ready}, "targetRef": map[string]string{"kind": "Pod", "name": pod}})
	return string(b)
}

const twoPorts = `{"name": "metrics", "port": 9400, "protocol": "TCP"}, {"name": "hip", "port": 19000, "protocol": "TCP"}`

func TestKubernetes(t *testing.T) {
	api := &sliceAPI{t: t, selector: "kubernetes.io/service-name=hip-worker", pages: []string{
		slice(twoPorts, endpoint("10.1.0.1", "node-1", "hip-worker-a", true), endpoint("10.1.0.2", "node-2", "hip-worker-b", false)),
		slice(`{"port": 7000}`, endpoint("fd00::1", "", "", true)) + "," + slice(`{"name": "metrics", "port": 9400}, {"name": "x", "port": 1}`, endpoint("10.1.0.9", "n", "p", true)) + "," +
			slice(`{"name": "a", "port": 18515}, {"name": "b", "port": 1}`, endpoint("10.1.0.1", "node-1", "hip-worker-a", true), `{"addresses": []}`),
	}}
	srv := httptest.NewServer(api)
	defer srv.Close()
	proxy := "kubernetes+" + srv.URL
	const want = "10.1.0.1:18515 10.1.0.1:19000 10.1.0.2:19000 [fd00::1]:7000"
	read := func(source string, getenv func(string) string) *Discovery {
		t.Helper()
		d, err := New(Options{Sources: []string{source}, Getenv: getenv})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read(proxy+"/rocwire/hip-worker", env())
	d.Refresh(t.Context())
	if got := addresses(d); got != want || d.States()[0].Bad != 2 {
		t.Errorf("%s, want %s; %+v", got, want, d.States())
	}
	if x := d.Targets()[2]; x.Name() != "node-2" || x.Labels["__meta_kubernetes_pod_name"] != "hip-worker-b" || x.Labels["__meta_kubernetes_namespace"] != "rocwire" || x.Labels["__meta_kubernetes_service_name"] != "hip-worker" {
		t.Errorf("%+v", x)
	}
	api.selector = "app.kubernetes.io/name=hip-worker,tier in (a,b)"
	d = read(proxy+"/rocwire?selector="+url.QueryEscape(api.selector), env())
	d.Refresh(t.Context())
	if got := addresses(d); got != want {
		t.Errorf("by label: %s, want %s; %+v", got, want, d.States())
	}

	// In a pod: TLS by the cluster's CA, and the pod's token, which is renewed.
	api.selector, api.bearer = "kubernetes.io/service-name=hip-worker", "Bearer first"
	secure := httptest.NewTLSServer(api)
	defer secure.Close()
	u, _ := url.Parse(secure.URL)
	d = read("kubernetes:rocwire/hip-worker", env("KUBERNETES_SERVICE_HOST", u.Hostname(), "KUBERNETES_SERVICE_PORT", u.Port()))
	dir := t.TempDir()
	d.sources[0].(*kubernetesSource).dir = dir
	d.Refresh(t.Context())
	if s := d.States()[0]; !strings.Contains(s.Err, "token") {
		t.Errorf("without a token: %+v", s)
	}
	write(t, filepath.Join(dir, "token"), "first\n")
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"first", "second"} {
		write(t, filepath.Join(dir, "token"), token+"\n")
		api.bearer = "Bearer " + token
		before := failures(d)
		d.Refresh(t.Context())
		if got := addresses(d); got != want || failures(d) != before {
			t.Errorf("%s: %s, want %s; %+v", token, got, want, d.States())
		}
	}
}

// An API server whose pages never end is left.
func TestKubernetesEndless(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"metadata": {"continue": "more%d"}, "items": []}%s`, asked, strings.Repeat(" ", 1<<20))
	}))
	defer srv.Close()
	d, err := New(Options{Sources: []string{"kubernetes+" + srv.URL + "/ns/svc"}})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	if s := d.States()[0]; !strings.Contains(s.Err, "bytes") || asked > MaxBytes>>20+2 {
		t.Errorf("%d questions, %+v", asked, s)
	}
}
