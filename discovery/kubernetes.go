package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/outbound"
)

// serviceAccountDir is where every pod finds its own token and the cluster's CA.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// kubernetesSource asks for EndpointSlices.
type kubernetesSource struct {
	shown    string
	url      *url.URL // of the list
	interval time.Duration
	client   *http.Client
	dir      string // with the token, which is renewed there; "": none is shown
}

// portName is that of a worker's port, where it has a name.
const portName = "hip"

// pageSize is how many EndpointSlices are asked for at once.
const pageSize = 500

var kubernetesName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// newKubernetesSource reads kubernetes:NAMESPACE/SERVICE, kubernetes:NAMESPACE?selector=LABELS, and both with the URL of an API server that asks nobody
// who they are: kubectl proxy.
func newKubernetesSource(s string, interval time.Duration, getenv func(string) string) (*kubernetesSource, error) {
	k := &kubernetesSource{shown: s, interval: interval}
	scheme, rest, _ := strings.Cut(s, ":")
	what, query, _ := strings.Cut(rest, "?")
	if scheme = strings.ToLower(scheme); scheme == "kubernetes" {
		host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return nil, errors.New(s + ": this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not say where the cluster is; " +
				"outside, name kubectl proxy: kubernetes+http://127.0.0.1:8001/NAMESPACE/SERVICE")
		}
		k.url, k.dir = &url.URL{Scheme: "https", Host: net.JoinHostPort(host, port)}, serviceAccountDir
	} else {
		u, err := parseURL(s, scheme)
		if err != nil {
			return nil, err
		}
		what, query = strings.TrimPrefix(u.Path, "/"), u.RawQuery
		u.Path, u.RawPath, u.RawQuery = "", "", ""
		k.url, k.client, k.shown = u, newHTTPClient(nil), scheme+strings.TrimPrefix(u.Redacted(), u.Scheme)+"/"+what
		if query != "" {
			k.shown += "?" + query
		}
	}
	values, err := url.ParseQuery(query)
	namespace, service, _ := strings.Cut(what, "/")
	selector := values.Get("selector")
	delete(values, "selector")
	if err != nil || len(values) > 0 || !kubernetesName.MatchString(namespace) || (service == "") == (selector == "") || service != "" && !kubernetesName.MatchString(service) {
		return nil, fmt.Errorf("%q is not kubernetes:NAMESPACE/SERVICE or kubernetes:NAMESPACE?selector=LABELS", s)
	}
	if service != "" {
		selector = "kubernetes.io/service-name=" + service
	}
	k.url = k.url.JoinPath("apis/discovery.k8s.io/v1/namespaces", namespace, "endpointslices")
	k.url.RawQuery = url.Values{"labelSelector": {selector}, "limit": {strconv.Itoa(pageSize)}}.Encode()
	return k, nil
}

func (k *kubernetesSource) name() string          { return k.shown }
func (k *kubernetesSource) period() time.Duration { return k.interval }

// endpointSlices is what of an EndpointSliceList is of interest.
type endpointSlices struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Namespace string            `json:"namespace"`
			Labels    map[string]string `json:"labels"`
		} `json:"metadata"`
		Endpoints []struct {
			Addresses []string `json:"addresses"`
			NodeName  string   `json:"nodeName"`
			TargetRef struct {
				Kind string `json:"kind"`
				Name string `json:"name"`
			} `json:"targetRef"`
		} `json:"endpoints"`
		Ports []endpointPort `json:"ports"`
	} `json:"items"`
}

type endpointPort struct {
	Name     string `json:"name"`
	Port     int    `json:"port"`
	Protocol string `json:"protocol"`
}

func (k *kubernetesSource) read(ctx context.Context) ([]Target, int, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	header, err := k.login()
	if err != nil {
		return nil, 0, err
	}
	all, page, total := collection{}, *k.url, 0
	for {
		b, err := getJSON(ctx, k.client, &page, header.Clone())
		if err != nil {
			return nil, 0, err
		}
		if total += len(b); total > MaxBytes {
			return nil, 0, fmt.Errorf("%s: %w: more than %d bytes", k.shown, ErrFormat, MaxBytes)
		}
		var list endpointSlices
		if err := decodeJSON(b, &list); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", k.shown, err)
		}
		list.collect(&all)
		if list.Metadata.Continue == "" {
			return all.targets, all.bad, nil
		}
		q := page.Query()
		q.Set("continue", list.Metadata.Continue)
		page.RawQuery = q.Encode()
	}
}

// login reads who this program is in its cluster. The cluster's CA is read with the first question.
func (k *kubernetesSource) login() (http.Header, error) {
	header := http.Header{}
	if k.dir == "" {
		return header, nil
	}
	token, err := outbound.ReadSecret(filepath.Join(k.dir, "token"))
	if err != nil {
		return nil, err
	}
	header.Set("Authorization", "Bearer "+token.Reveal())
	if k.client == nil {
		t := outbound.TLS{CA: filepath.Join(k.dir, "ca.crt")}
		config, err := t.Config(k.url.Hostname())
		if err != nil {
			return nil, err
		}
		k.client = newHTTPClient(config)
	}
	return header, nil
}

func (l *endpointSlices) collect(all *collection) {
	for i := range l.Items {
		item := &l.Items[i]
		port := workerPort(item.Ports)
		for _, e := range item.Endpoints {
			if port == "" || len(e.Addresses) == 0 {
				all.bad++
				continue
			}
			labels := map[string]string{
				"__meta_kubernetes_namespace": item.Metadata.Namespace, "__meta_kubernetes_service_name": item.Metadata.Labels["kubernetes.io/service-name"],
			}
			if e.NodeName != "" {
				labels["__meta_kubernetes_pod_node_name"] = e.NodeName
			}
			if e.TargetRef.Kind == "Pod" {
				labels["__meta_kubernetes_pod_name"] = e.TargetRef.Name
			}
			// Several addresses of an endpoint are the same one.
			all.add(net.JoinHostPort(e.Addresses[0], port), labels)
		}
	}
}

// workerPort is a worker's port among those of a service: the one of the name, the usual one, or the only one. Empty if it cannot be told.
func workerPort(ports []endpointPort) string {
	found := 0
	for _, p := range ports {
		switch {
		case p.Protocol != "" && p.Protocol != "TCP":
		case p.Name == portName:
			return strconv.Itoa(p.Port)
		case strconv.Itoa(p.Port) == DefaultPort:
			found = p.Port
		case len(ports) == 1:
			found = p.Port
		}
	}
	if found == 0 {
		return ""
	}
	return strconv.Itoa(found)
}
