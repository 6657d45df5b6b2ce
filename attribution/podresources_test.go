package attribution

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// answers are what a kubelet may say, as its own library encodes it.
func answers() []*podresources.ListPodResourcesResponse {
	share := "s"
	full := &podresources.PodResources{
		Name: "train-0", Namespace: "ml", CpuIds: []int64{1, 2, 300}, Memory: []*podresources.ContainerMemory{{MemoryType: "memory", Size: 1 << 40}},
		Containers: []*podresources.ContainerResources{{
			Name: "main", CpuIds: []int64{7}, Devices: []*podresources.ContainerDevices{
				{ResourceName: "amd.com/gpu", DeviceIds: []string{"0000:c1:00.0", "amdgpu_xcp_3"}, Topology: &podresources.TopologyInfo{Nodes: []*podresources.NUMANode{{ID: 1}}}},
				{ResourceName: "amd.com/", DeviceIds: []string{"no"}}, {ResourceName: "example.com/gpu", DeviceIds: []string{"no"}}, {ResourceName: "amd.com/cpx_nps4", DeviceIds: []string{"part"}},
			},
			DynamicResources: []*podresources.DynamicResource{{ClaimName: "c", ClaimNamespace: "ml", ClaimResources: []*podresources.ClaimResource{
				{DriverName: "gpu.amd.com", PoolName: "node", DeviceName: "gpu-1-129", ShareId: &share, CdiDevices: []*podresources.CDIDevice{{Name: "amd.com/gpu=1"}}},
				{DriverName: "gpu.example.com", DeviceName: "no"},
			}}},
		}, {Name: "side"}},
	}
	return []*podresources.ListPodResourcesResponse{{}, {PodResources: []*podresources.PodResources{full, {}, {Name: "x", Namespace: "y"}}}}
}

// TestParseList: what is read is what the kubelet's own library says.
func TestParseList(t *testing.T) {
	for _, a := range answers() {
		b, err := proto.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := parseList(b)
		if want := given(a); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
		for i := range b {
			if g, ok := parseList(b[:i]); ok && len(g) > len(got) {
				t.Errorf("cut to %d bytes: %+v", i, g)
			}
		}
	}
	full := given(answers()[1])
	if len(full) != 4 || full[3].device != "gpu-1-129" || full[0].container != "main" {
		t.Errorf("%+v", full)
	}
}

// given is every AMD device that a container was given, by the kubelet's own library.
func given(answer *podresources.ListPodResourcesResponse) (grants []grant) {
	for _, pod := range answer.GetPodResources() {
		for _, c := range pod.GetContainers() {
			o := owner{podName{pod.GetNamespace(), pod.GetName()}, c.GetName()}
			if !isName(o.namespace) || !isName(o.name) || !isName(o.container) {
				continue
			}
			for _, d := range c.GetDevices() {
				if strings.HasPrefix(d.GetResourceName(), resourcePrefix) && d.GetResourceName() != resourcePrefix {
					for _, id := range d.GetDeviceIds() {
						grants = append(grants, grant{o, id})
					}
				}
			}
			for _, r := range c.GetDynamicResources() {
				for _, claim := range r.GetClaimResources() {
					if claim.GetDriverName() == draDriver {
						grants = append(grants, grant{o, claim.GetDeviceName()})
					}
				}
			}
		}
	}
	return grants
}

// What the kubelet's own library takes for an answer is read as it reads it.
func FuzzParseList(f *testing.F) {
	for _, a := range answers() {
		b, err := proto.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := parseList(b)
		for _, g := range got {
			if !isName(g.name) || !isName(g.namespace) || !isName(g.container) {
				t.Errorf("%+v", g)
			}
		}
		var a podresources.ListPodResourcesResponse
		if proto.Unmarshal(b, &a) != nil || !ok || len(a.ProtoReflect().GetUnknown()) > 0 {
			return
		}
		// A message that was encoded anew has every field once and in order.
		again, err := proto.Marshal(&a)
		if err != nil {
			return
		}
		got, ok = parseList(again)
		if want := given(&a); !ok || len(got) != len(want) {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
	})
}

// TestNoKubelet: what answers at the socket is none, or is one that has nothing good
// to say. Each is an error, and none is an answer.
func TestNoKubelet(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no gRPC":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"not found":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) },
		"no message": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(grpcStatus, "0") },
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(grpcStatus, "12")
			w.Header().Set(grpcMessage, "unknown method\x1b[2J")
		},
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(grpcStatus, "0")
			_, _ = w.Write([]byte{1, 0, 0, 0, 0})
		},
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(grpcStatus, "0")
			_, _ = w.Write([]byte{0, 255, 255, 255, 255, 1})
		},
		"nonsense": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(grpcStatus, "0")
			_, _ = w.Write([]byte{0, 0, 0, 0, 1, 255})
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(grpcStatus, "0")
			for b := make([]byte, 1<<20); ; {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			listener, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			s := &http.Server{Handler: h, Protocols: &http.Protocols{}}
			s.Protocols.SetUnencryptedHTTP2(true)
			go func() { _ = s.Serve(listener) }()
			defer s.Close()
			l := newLister(path)
			defer l.close()
			g, err := l.list(t.Context())
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%+v, %v", g, err)
			}
		})
	}
}
