package attribution

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// fakeKubelet answers List on a Unix socket.
type fakeKubelet struct {
	podresources.UnimplementedPodResourcesListerServer
	socket string

	mu     sync.Mutex
	answer []*podresources.PodResources
	err    error
	hang   chan struct{}
	asked  int
}

func (k *fakeKubelet) List(ctx context.Context, _ *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	k.mu.Lock()
	k.asked++
	answer, err, hang := k.answer, k.err, k.hang
	k.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &podresources.ListPodResourcesResponse{PodResources: answer}, err
}

func (k *fakeKubelet) set(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

func kubelet(t *testing.T, answer ...*podresources.PodResources) *fakeKubelet {
	t.Helper()
	k := &fakeKubelet{answer: answer, socket: filepath.Join(t.TempDir(), "kubelet.sock")}
	k.serve(t)
	return k
}

func (k *fakeKubelet) serve(t *testing.T) (stop func()) {
	t.Helper()
	l, err := net.Listen("unix", k.socket)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(s, k)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	stop = sync.OnceFunc(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// pod is a pod whose containers were given devices of amd.com/gpu.
func pod(namespace, name string, containers map[string][]string) *podresources.PodResources {
	p := &podresources.PodResources{Name: name, Namespace: namespace}
	for c, ids := range containers {
		p.Containers = append(p.Containers, &podresources.ContainerResources{
			Name: c, Devices: []*podresources.ContainerDevices{
				{ResourceName: "example.com/nic", DeviceIds: []string{"0000:c1:00.0", "0000:c6:00.0"}},
				{ResourceName: "amd.com/gpu", DeviceIds: ids},
			},
		})
	}
	return p
}

func inPod(uid, container string) string { return "0::/kubepods/burstable/pod" + uid + "/" + container }

// twoCards have the PCI addresses 0000:c1:00.0 and 0000:c6:00.0.
func twoCards(first, second []smi.Process) *smitest.Fake {
	var cards []smi.DeviceSnapshot
	for i, ps := range [][]smi.Process{first, second} {
		d := smi.Device{Index: i, Name: "card", BDF: smi.Some(smi.BDF{Bus: []uint8{0xc1, 0xc6}[i]})}
		for j := range ps {
			ps[j].Device = i
		}
		info := &smi.Info{Device: d, IDs: smi.IDs{DRMRender: smi.Some(uint32(128 + i))}}
		cards = append(cards, smi.DeviceSnapshot{Device: d, Info: info, Processes: ps})
	}
	return smitest.NewFake(cards...)
}

// containers are those of all rows, card by card.
func containers(t *testing.T, s smi.Source) (out []smi.Container) {
	t.Helper()
	snap, err := s.(*Source).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range snap.Devices {
		for _, p := range d.Processes {
			if p.Container == nil {
				p.Container = &smi.Container{}
			}
			out = append(out, *p.Container)
		}
	}
	return out
}

// settled waits until the kubelet has answered, and is what is told then. The question under way is waited for: where the clock runs with every look at it, there
// may be one whenever anybody looks.
func settled(t *testing.T, s *Source) []smi.Container {
	t.Helper()
	containers(t, s)
	s.pods.mu.Lock()
	flight := s.pods.flight
	s.pods.mu.Unlock()
	if flight != nil {
		select {
		case <-flight:
		case <-time.After(time.Minute):
			t.Fatal("never: the kubelet has answered")
		}
	}
	s.pods.mu.Lock()
	known := s.pods.known
	s.pods.mu.Unlock()
	if known == nil {
		t.Fatal("nothing is known although the kubelet was asked")
	}
	return containers(t, s)
}

func TestPods(t *testing.T) {
	a := pod("ml", "train-0", map[string][]string{"main": {"0000:c1:00.0"}})
	shareA := pod("ml", "train-0", map[string][]string{"main": {"0000:c1:00.0-slice-0", "0000:c1:00.0-slice-3"}})
	shareB := pod("web", "chat", map[string][]string{"server": {"0000:c1:00.0-slice-1"}})
	two := pod("ml", "two", map[string][]string{"left": {"0000:c1:00.0"}, "right": {"0000:c6:00.0"}})
	dra := &podresources.PodResources{Name: "claimed", Namespace: "ml", Containers: []*podresources.ContainerResources{{
		Name: "main", DynamicResources: []*podresources.DynamicResource{{ClaimResources: []*podresources.ClaimResource{
			{DriverName: "other.com", DeviceName: "gpu-0-128"}, {DriverName: "gpu.amd.com", DeviceName: "gpu-1-129"},
		}}},
	}}}
	isA, isB := smi.Container{ID: idA, PodUID: uidA}, smi.Container{ID: idB, PodUID: uidB}
	named := func(c smi.Container, namespace, pod, name string) smi.Container {
		c.Namespace, c.Pod, c.Name = namespace, pod, name
		return c
	}
	procs := []proc{
		{pid: 1, cgroup: inPod(uidA, idA)}, {pid: 2, cgroup: inPod(uidB, idB)}, {pid: 3}, {pid: 4, cgroup: "0::/docker/" + idA}, {pid: 5, cgroup: "0::/"},
	}
	for name, c := range map[string]struct {
		pods          []*podresources.PodResources
		first, second []uint32 // processes of the cards
		logs          []string
		hidden        bool // the reader is in a control group namespace
		want          []smi.Container
	}{
		"the only one that has the card": {pods: []*podresources.PodResources{a}, first: []uint32{1}, want: []smi.Container{named(isA, "ml", "train-0", "main")}},
		"not the card it was given":      {pods: []*podresources.PodResources{a}, second: []uint32{1}, want: []smi.Container{isA}},
		"of the host, or of docker":      {pods: []*podresources.PodResources{a}, first: []uint32{3, 4}, want: []smi.Container{{}, {ID: idA}}},
		"not to be seen":                 {pods: []*podresources.PodResources{a}, first: []uint32{99}, want: []smi.Container{named(smi.Container{}, "ml", "train-0", "main")}},
		"in the root group of a host":    {pods: []*podresources.PodResources{a}, first: []uint32{5}, want: []smi.Container{{}}},
		"in the reader's own group":      {pods: []*podresources.PodResources{a}, first: []uint32{5}, hidden: true, want: []smi.Container{named(smi.Container{}, "ml", "train-0", "main")}},
		"another pod looks on": {pods: []*podresources.PodResources{a}, first: []uint32{1, 2},
			want: []smi.Container{isA, isB}},
		"another pod looks on, and the logs tell": {pods: []*podresources.PodResources{a}, first: []uint32{1, 2}, logs: []string{"ml_train-0_" + uidA, "kube-system_agent_" + uidB},
			want: []smi.Container{named(isA, "ml", "train-0", "main"), named(isB, "kube-system", "agent", "")}},
		"shared":                          {pods: []*podresources.PodResources{shareA, shareB}, first: []uint32{1, 2}, want: []smi.Container{isA, isB}},
		"shared, and only one is at work": {pods: []*podresources.PodResources{shareA, shareB}, first: []uint32{2}, want: []smi.Container{isB}},
		"shared, not to be seen":          {pods: []*podresources.PodResources{shareA, shareB}, first: []uint32{99}, want: []smi.Container{{}}},
		"shared, and the logs tell": {pods: []*podresources.PodResources{shareA, shareB}, first: []uint32{1, 2}, logs: []string{"ml_train-0_" + uidA, "web_chat_" + uidB, "nonsense"},
			want: []smi.Container{named(isA, "ml", "train-0", "main"), named(isB, "web", "chat", "server")}},
		"two shares are one owner": {pods: []*podresources.PodResources{shareA}, first: []uint32{1}, want: []smi.Container{named(isA, "ml", "train-0", "main")}},
		"two containers of a pod": {pods: []*podresources.PodResources{two}, first: []uint32{1}, second: []uint32{1},
			want: []smi.Container{named(isA, "ml", "two", "left"), named(isA, "ml", "two", "right")}},
		"a claim": {pods: []*podresources.PodResources{dra}, first: []uint32{1}, second: []uint32{1},
			want: []smi.Container{isA, named(isA, "ml", "claimed", "main")}},
		"names that cannot be": {pods: []*podresources.PodResources{pod("ml", "x\x1b[2J", map[string][]string{"main": {"0000:c1:00.0"}}), pod("", "x", map[string][]string{"main": {"0000:c1:00.0"}})},
			first: []uint32{1}, want: []smi.Container{isA}},
		"devices that cannot be": {pods: []*podresources.PodResources{pod("ml", "x", map[string][]string{"main": {"", "0000:c1:00", "0000:c1:00.0-", "0000:c1:00.0-slice-", "amdgpu_xcp_../..", strings.Repeat("9", 300)}})},
			first: []uint32{1}, want: []smi.Container{isA}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := func(pids []uint32) (ps []smi.Process) {
				for _, p := range pids {
					ps = append(ps, smi.Process{PID: p})
				}
				return ps
			}
			dir := newTree(t, append(procs, proc{pid: 77, name: "reader"})...)
			if c.hidden {
				setSelf(t, dir, 77, "cgroup:[4026532888]")
			}
			logs := t.TempDir()
			for _, l := range c.logs {
				if err := os.Mkdir(filepath.Join(logs, l), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			k := kubelet(t, c.pods...)
			s := attributed(t, twoCards(rows(c.first), rows(c.second)), Options{Proc: dir, Kubelet: "unix://" + k.socket, PodLogs: logs})
			if got := settled2(t, s); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// settled2 is settled, for rows that need not make anybody ask.
func settled2(t *testing.T, s *Source) []smi.Container {
	t.Helper()
	s.pods.get(t.Context())
	return settled(t, s)
}

// A kubelet that hangs delays one answer by a moment and no other; one that fails,
// none. What it said before counts for a while.
func TestKubeletTrouble(t *testing.T) {
	dir := newTree(t, proc{pid: 1, cgroup: inPod(uidA, idA)})
	k := kubelet(t, pod("ml", "train-0", map[string][]string{"main": {"0000:c1:00.0"}}))
	hang := make(chan struct{})
	k.hang = hang
	s := attributed(t, twoCards([]smi.Process{{PID: 1}}, nil), Options{Proc: dir, Kubelet: k.socket})
	now := time.Now()
	later := func(d time.Duration) {
		s.pods.mu.Lock()
		defer s.pods.mu.Unlock()
		now = now.Add(d)
	}
	s.pods.now = func() time.Time { return now }
	podOf := func() string { return containers(t, s)[0].Pod }
	for range 20 {
		if got := podOf(); got != "" {
			t.Errorf("of nobody: %q", got)
		}
	}
	s.pods.mu.Lock()
	waited, flight := s.pods.waiting, s.pods.flight
	s.pods.mu.Unlock()
	if !waited || flight == nil {
		t.Errorf("waited: %v", waited)
	}
	k.set(func() {
		if k.asked > 1 {
			t.Errorf("asked %d times at once", k.asked)
		}
		k.hang = nil
	})
	close(hang)
	eventually(t, "it has answered", func() bool { return podOf() == "train-0" })
	// An error keeps what is known, for a while.
	k.set(func() { k.err = status.Error(codes.Internal, "broken") })
	later(podRefresh)
	eventually(t, "it has failed", func() bool {
		podOf()
		s.pods.mu.Lock()
		defer s.pods.mu.Unlock()
		return s.pods.failing
	})
	if got := podOf(); got != "train-0" {
		t.Errorf("after an error: %q", got)
	}
	later(podKeep)
	eventually(t, "what is old is not said any more", func() bool { return podOf() == "" })
	// It is asked again, and its answer counts.
	k.set(func() {
		k.err, k.answer = nil, []*podresources.PodResources{pod("ml", "next", map[string][]string{"main": {"0000:c1:00.0"}})}
	})
	eventually(t, "it is well again", func() bool { later(podRefresh); return podOf() == "next" })
}

// A kubelet that starts anew is found again.
func TestKubeletRestart(t *testing.T) {
	dir := newTree(t, proc{pid: 1, cgroup: inPod(uidA, idA)})
	k := &fakeKubelet{socket: filepath.Join(t.TempDir(), "kubelet.sock"), answer: []*podresources.PodResources{pod("ml", "train-0", map[string][]string{"main": {"0000:c1:00.0"}})}}
	s := attributed(t, twoCards([]smi.Process{{PID: 1}}, nil), Options{Proc: dir, Kubelet: "unix:" + k.socket})
	var mu sync.Mutex
	now := time.Now()
	s.pods.now = func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(podRefresh); return now }
	if got := settled(t, s); got[0].Pod != "" {
		t.Errorf("without a kubelet: %+v", got)
	}
	for range 2 {
		stop := k.serve(t)
		eventually(t, "it is found", func() bool { return containers(t, s)[0].Pod == "train-0" })
		stop()
		eventually(t, "it is gone", func() bool { return containers(t, s)[0].Pod == "" })
	}
}

func TestParseKubelet(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "none": "none", "/run/k.sock": "unix:///run/k.sock", "unix:///run/k.sock": "unix:///run/k.sock", "unix:/run/k.sock": "unix:///run/k.sock",
	} {
		if got, err := ParseKubelet(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"kubelet.sock", "unix:k", "unix://k", "tcp://127.0.0.1:1", "127.0.0.1:10250"} {
		if got, err := ParseKubelet(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestDevicePartitions(t *testing.T) {
	sys := t.TempDir()
	if err := os.MkdirAll(filepath.Join(sys, "devices/platform/amdgpu_xcp_7/drm/renderD135"), 0o755); err != nil {
		t.Fatal(err)
	}
	card := smi.Device{BDF: smi.Some(smi.BDF{Bus: 0xc1})}
	whole := smi.IDs{DRMRender: smi.Some(uint32(128))}
	part := func(n uint32) smi.IDs {
		return smi.IDs{Partition: smi.Some(n), DRMRender: smi.Some(128 + n)}
	}
	for _, c := range []struct {
		id   string
		ids  smi.IDs
		want bool
	}{
		{"0000:c1:00.0", smi.IDs{}, true}, {"0000:c1:00.0", whole, true}, {"0000:c2:00.0", whole, false}, {"0000:C1:00.0", whole, true},
		{"0000:c1:00.0", part(0), true}, {"0000:c1:00.0", part(1), false}, {"0000:c1:00.0-1", part(1), true}, {"0000:c1:00.0_1", part(1), true},
		{"0000:c1:00.0-1", part(2), false}, {"0000:c1:00.0-1", whole, true}, {"0000:c1:00.0::3", whole, true}, {"0000:c1:00.0-slice-1", part(1), false},
		{"amdgpu_xcp_7", part(7), true}, {"amdgpu_xcp_7", part(6), false}, {"amdgpu_xcp_7", smi.IDs{}, false}, {"amdgpu_xcp_8", part(7), false},
		{"gpu-3-135", part(7), true}, {"gpu-3-134", part(7), false}, {"gpu-3", part(7), false}, {"gpu-x-135", part(7), false},
	} {
		d, ok := parseDeviceID(c.id, sys)
		if got := ok && d.is(card, c.ids); got != c.want {
			t.Errorf("%s of %+v: %v", c.id, c.ids, got)
		}
	}
}

func FuzzParseDeviceID(f *testing.F) {
	for _, s := range []string{"0000:c1:00.0", "0000:c1:00.0-slice-2", "0000:c1:00.0_7", "amdgpu_xcp_1", "gpu-1-129", "gpu--", "0000:c1:00.0::"} {
		f.Add(s)
	}
	sys := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := parseDeviceID(s, sys)
		if ok && d.bdf.Ok() == d.render.Ok() {
			t.Errorf("%q: %+v", s, d)
		}
		if b, has := d.bdf.Get(); ok && has && !strings.HasPrefix(strings.ToLower(s), b.String()) {
			t.Errorf("%q: %s", s, b)
		}
	})
}
