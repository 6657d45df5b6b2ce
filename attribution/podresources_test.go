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

// TestGrants: AMD's devices are found, of plugin and claim, and nobody else's.
func TestGrants(t *testing.T) {
	o := owner{podName{"ml", "train-0"}, "main"}
	want := []grant{{o, "0000:c1:00.0"}, {o, "amdgpu_xcp_3"}, {o, "part"}, {o, "gpu-1-129"}}
	for i, a := range answers() {
		if got := grantsOf(a); i == 0 && got != nil || i == 1 && !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Whatever is an answer gives only names that Kubernetes could give.
func FuzzGrants(f *testing.F) {
	for _, a := range answers() {
		b, err := proto.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var a podresources.ListPodResourcesResponse
		if proto.Unmarshal(b, &a) != nil {
			return
		}
		for _, g := range grantsOf(&a) {
			if !isName(g.name) || !isName(g.namespace) || !isName(g.container) {
				t.Errorf("%+v", g)
			}
		}
	})
}

// TestNoKubelet: what answers at the socket is none, or is one that has nothing good
// to say. Each is an error, and none is an answer.
func TestNoKubelet(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no gRPC":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"not found":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) },
		"no message": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Grpc-Status", "0") },
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "12")
			w.Header().Set("Grpc-Message", "unknown method\x1b[2J")
		},
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "0")
			_, _ = w.Write([]byte{1, 0, 0, 0, 0})
		},
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "0")
			_, _ = w.Write([]byte{0, 255, 255, 255, 255, 1})
		},
		"nonsense": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "0")
			_, _ = w.Write([]byte{0, 0, 0, 0, 1, 255})
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "0")
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
			g, err := listGrants(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%+v, %v", g, err)
			}
		})
	}
}
