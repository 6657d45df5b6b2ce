package otlp

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/exporter"
)

func resourceOf(o *Options, m machine) map[string]string {
	got := map[string]string{}
	for _, k := range o.resource(m).Attributes() {
		got[string(k.Key)] = k.Value.String()
	}
	return got
}

func TestResource(t *testing.T) {
	o, err := fromEnv(map[string]string{
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=ignored,team=a%2Cb", "OTEL_SERVICE_NAME": "named",
		"POD_NAME": "p", "POD_NAMESPACE": "ns", "POD_UID": "uid", "NODE_NAME": "node1", "CONTAINER_NAME": "c",
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Service, o.Version, o.Place = "rocwire.hip-worker", "1.0", exporter.Place{Cluster: "prod", Pool: "blue"}
	got := resourceOf(&o, machine{"host1", "abcdef"})
	for k, want := range map[string]string{
		"service.name": "named", "service.version": "1.0", "host.name": "host1", "host.id": "abcdef", "k8s.cluster.name": "prod", "rocwire.pool": "blue",
		"k8s.pod.name": "p", "k8s.namespace.name": "ns", "k8s.pod.uid": "uid", "k8s.node.name": "node1", "k8s.container.name": "c",
		"deployment.environment.name": "test", "team": "a,b", "telemetry.sdk.language": "go", "process.runtime.name": "gc", "process.pid": "",
		"process.executable.name": "",
	} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
	if !strings.Contains(o.resource(machine{}).SchemaURL(), "1.43.0") {
		t.Error("schema")
	}
}

// GPUs that are elsewhere have their own host's name, and its id is not ours.
func TestResourceElsewhere(t *testing.T) {
	o := Options{Service: "s", Place: exporter.Place{Host: "gpu-host"}}
	got := resourceOf(&o, machine{"host1", "abcdef"})
	if got["host.name"] != "gpu-host" || got["host.id"] != "" {
		t.Error(got)
	}
}

// The instance is the same after a restart, and another one for another program.
func TestInstance(t *testing.T) {
	a := Options{Service: "rocwire.hip-worker", Instance: ":18515"}
	m := machine{"host1", "abcdef"}
	id := a.instance(m)
	if len(id) != 36 || id[14] != '5' || !strings.Contains("89ab", id[19:20]) || id != a.instance(m) {
		t.Error(id)
	}
	others := []Options{{Service: "rocwire.gpu-exporter", Instance: ":18515"}, {Service: "rocwire.hip-worker", Instance: ":18516"}, a}
	others[2].kube.pod = "p"
	for _, o := range others {
		if o.instance(m) == id {
			t.Errorf("%+v is the same", o)
		}
	}
	if a.instance(machine{"host1", "other"}) == id {
		t.Error("another machine is the same")
	}
	a.InstanceID = "mine"
	if a.instance(m) != "mine" {
		t.Error("it was given")
	}
	// RFC 9562, appendix A.4.
	dns := [16]byte{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	if got := uuid5(dns, "www.example.com"); got != "2ed6657d-e927-568b-95e1-2665a8aea6a2" {
		t.Error(got)
	}
}
