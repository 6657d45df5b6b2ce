//go:build linux

package dra

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	drapb "k8s.io/kubelet/pkg/apis/dra/v1"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	cdi "tags.cncf.io/container-device-interface/specs-go"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	os.Exit(m.Run())
}

// cluster is two workers with two cards each, and a node.
type cluster struct {
	dir     string
	getenv  func(string) string
	servers []*worker.Server
	devices [2][]smi.Device
	api     *fake.Clientset
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "dra-") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{dir: dir, api: fake.NewClientset(), getenv: func(name string) string {
		if name == dialing.FileVariable {
			return dir + "/config.yaml"
		}
		return ""
	}}
	config := "workers:\n"
	for i := range 2 {
		log := slog.New(slog.DiscardHandler)
		b, err := simbackend.New(simbackend.Options{Arch: []string{"gfx90a", "gfx942"}[i], Cards: 2, MemoryBytes: 1 << 28}, log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Source.Close() })
		c.servers = append(c.servers, workertest.Start(t, worker.Config{Backend: b, Log: log, Socket: worker.Socket{Path: fmt.Sprintf("%s/w%d.sock", dir, i)}, Access: access.Config{IssuedFile: fmt.Sprintf("%s/issued%d", dir, i)}}))
		config += fmt.Sprintf("  w%d: {address: \"unix:%s/w%d.sock\"}\n", i, dir, i)
		if c.devices[i], err = b.Source.Devices(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(dir+"/config.yaml", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) workers(context.Context) ([]fleet.Worker, error) {
	list, err := dialing.Named(dialing.Settings{}, c.getenv)
	return fleet.Of(list), err
}

func (c *cluster) node() *Node {
	return &Node{Dir: c.dir + "/plugin", CDI: c.dir + "/cdi", Library: c.dir + "/lib", Workers: c.workers, Timeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}
}

// claim is one that the scheduler has allocated cards to: w0/1 is the second card of the first worker.
func (c *cluster) claim(t *testing.T, name string, consumed map[resourceapi.QualifiedName]string, cards ...string) *resourceapi.ResourceClaim {
	t.Helper()
	claim := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml", UID: types.UID("uid-" + name)}}
	claim.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: "pod-" + name, UID: "p"}}
	claim.Status.Allocation = &resourceapi.AllocationResult{}
	for _, card := range cards {
		var w, i int
		if _, err := fmt.Sscanf(card, "w%d/%d", &w, &i); err != nil {
			t.Fatal(err)
		}
		r := resourceapi.DeviceRequestAllocationResult{Request: "gpu", Driver: Driver, Pool: fmt.Sprintf("w%d", w), Device: DeviceName(&c.devices[w][i])}
		for k, v := range consumed {
			if r.ConsumedCapacity == nil {
				r.ConsumedCapacity = map[resourceapi.QualifiedName]resource.Quantity{}
			}
			r.ConsumedCapacity[k] = resource.MustParse(v)
		}
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, r)
	}
	if _, err := c.api.ResourceV1().ResourceClaims("ml").Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return claim
}

// tokens are those that the workers hold.
func (c *cluster) tokens(t *testing.T) (all []string) {
	t.Helper()
	list, err := c.workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		m := smiremote.NewClient(smiremote.Options{Address: list[i].Address.String(), Name: "test"})
		tokens, err := m.Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = m.Close()
		for _, k := range tokens {
			all = append(all, fmt.Sprintf("w%d %s %s/%s %d", i, k.ID, k.Namespace, k.Pod, len(k.Cards)))
		}
	}
	return all
}

// kubelet finds a driver by its registration socket and asks it as the real one does.
type kubelet struct {
	drapb.DRAPluginClient
}

func newKubelet(t *testing.T, registry string) *kubelet {
	t.Helper()
	dial := func(path string) *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	sockets, err := filepath.Glob(registry + "/*.sock")
	if err != nil || len(sockets) != 1 {
		t.Fatalf("registration sockets: %v, %v", sockets, err)
	}
	r := registerapi.NewRegistrationClient(dial(sockets[0]))
	info, err := r.GetInfo(t.Context(), &registerapi.InfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Type != registerapi.DRAPlugin || info.Name != Driver || !slices.Contains(info.SupportedVersions, drapb.DRAPluginService) {
		t.Fatalf("%+v", info)
	}
	if _, err := r.NotifyRegistrationStatus(t.Context(), &registerapi.RegistrationStatus{PluginRegistered: true}); err != nil {
		t.Fatal(err)
	}
	return &kubelet{drapb.NewDRAPluginClient(dial(info.Endpoint))}
}

func (k *kubelet) prepare(t *testing.T, claim *resourceapi.ResourceClaim) *drapb.NodePrepareResourceResponse {
	t.Helper()
	r, err := k.NodePrepareResources(t.Context(), &drapb.NodePrepareResourcesRequest{Claims: []*drapb.Claim{{Namespace: claim.Namespace, Name: claim.Name, Uid: string(claim.UID)}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Claims[string(claim.UID)]
}

func (k *kubelet) unprepare(t *testing.T, claim *resourceapi.ResourceClaim) string {
	t.Helper()
	r, err := k.NodeUnprepareResources(t.Context(), &drapb.NodeUnprepareResourcesRequest{Claims: []*drapb.Claim{{Namespace: claim.Namespace, Name: claim.Name, Uid: string(claim.UID)}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Claims[string(claim.UID)].Error
}

// start starts the driver on the node, until stop or the test's end.
func (c *cluster) start(t *testing.T) (k *kubelet, stop func()) {
	t.Helper()
	registry := c.dir + "/registry"
	for _, d := range []string{registry, c.dir + "/plugin"} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	h, err := kubeletplugin.Start(ctx, c.node(), kubeletplugin.DriverName(Driver), kubeletplugin.NodeName("node-1"), kubeletplugin.KubeClient(c.api),
		kubeletplugin.RegistrarDirectoryPath(registry), kubeletplugin.PluginDataDirectoryPath(c.dir+"/plugin"))
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			h.Stop()
			cancel()
		}
	}
	t.Cleanup(stop)
	return newKubelet(t, registry), stop
}

// environment is what a container with these CDI devices gets.
func (c *cluster) environment(t *testing.T, r *drapb.NodePrepareResourceResponse) map[string]string {
	t.Helper()
	env := map[string]string{}
	edit := func(list []string) {
		for _, e := range list {
			k, v, _ := strings.Cut(e, "=")
			env[k] = v
		}
	}
	files, err := filepath.Glob(c.dir + "/cdi/*.json")
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]*cdi.Spec{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s := new(cdi.Spec)
		if err := json.Unmarshal(b, s); err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Devices {
			specs[s.Kind+"="+d.Name] = s
		}
	}
	for _, d := range r.Devices {
		for _, id := range d.CdiDeviceIds {
			s := specs[id]
			if s == nil {
				t.Fatalf("no specification has %s", id)
			}
			edit(s.ContainerEdits.Env)
			for _, x := range s.Devices {
				if s.Kind+"="+x.Name == id {
					edit(x.ContainerEdits.Env)
				}
			}
			for _, m := range s.ContainerEdits.Mounts[:1] {
				if m.HostPath != m.ContainerPath {
					t.Errorf("the claim's folder %s is at %s", m.HostPath, m.ContainerPath)
				}
			}
		}
	}
	return env
}

// cards is how many cards a program in an environment sees, as the client library reads it.
func cards(t *testing.T, env map[string]string) (n int, err error) {
	t.Helper()
	for _, cfg := range hipremote.AllFromEnv(func(k string) (string, bool) {
		v, ok := env[k]
		return v, ok && k != "HIP_VISIBLE_DEVICES" // it is the token that bounds what is seen
	}) {
		c := hipremote.New(cfg)
		k, code := c.GetDeviceCount()
		_ = c.Close()
		if code != hip.Success {
			return n, fmt.Errorf("%v", code)
		}
		n += int(k)
	}
	return n, nil
}

// TestKubelet: what a kubelet asks of the driver, from registration to the end of a claim, with a restart of the driver in between.
func TestKubelet(t *testing.T) {
	c := newCluster(t)
	k, stop := c.start(t)
	one := c.claim(t, "one", map[resourceapi.QualifiedName]string{"memory": "64Mi", "share": "25"}, "w0/1")
	two := c.claim(t, "two", nil, "w1/0", "w0/0")
	r := k.prepare(t, one)
	if r.Error != "" || len(r.Devices) != 1 || r.Devices[0].PoolName != "w0" || len(r.Devices[0].CdiDeviceIds) != 1 || !slices.Equal(r.Devices[0].RequestNames, []string{"gpu"}) {
		t.Fatalf("%+v", r)
	}
	env := c.environment(t, r)
	if n, err := cards(t, env); err != nil || n != 1 {
		t.Errorf("a program sees %d cards, %v", n, err)
	}
	if env["ROCWIRE_CARD_0"] != c.devices[0][1].UUID || env["HIP_VISIBLE_DEVICES"] != "0" {
		t.Errorf("%v", env)
	}
	r2 := k.prepare(t, two)
	if r2.Error != "" || len(r2.Devices) != 2 {
		t.Fatalf("%+v", r2)
	}
	env2 := c.environment(t, r2)
	if n, err := cards(t, env2); err != nil || n != 2 || env2["HIP_VISIBLE_DEVICES"] != "0,1" {
		t.Errorf("a program sees %d cards, %v; %v", n, err, env2)
	}
	want := []string{"w0 dra/uid-one ml/pod-one 1", "w0 dra/uid-two ml/pod-two 1", "w1 dra/uid-two ml/pod-two 1"}
	if got := c.tokens(t); !slices.Equal(got, want) {
		t.Errorf("tokens %q", got)
	}
	// Again, and by another process after a restart of the node: the same, and the same token.
	stop()
	if err := os.RemoveAll(c.dir + "/cdi"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(c.node().folder(one.UID), fileToken))
	if err != nil {
		t.Fatal(err)
	}
	k, _ = c.start(t)
	for range 2 {
		again := k.prepare(t, one)
		if again.Error != "" || again.Devices[0].CdiDeviceIds[0] != r.Devices[0].CdiDeviceIds[0] {
			t.Errorf("again: %+v", again)
		}
		if n, err := cards(t, c.environment(t, again)); err != nil || n != 1 {
			t.Errorf("again a program sees %d cards, %v", n, err)
		}
	}
	if after, err := os.ReadFile(filepath.Join(c.node().folder(one.UID), fileToken)); err != nil || string(after) != string(before) {
		t.Errorf("the token changed, %v", err)
	}
	if got := c.tokens(t); !slices.Equal(got, want) {
		t.Errorf("tokens after a restart %q", got)
	}
	for range 2 {
		if e := k.unprepare(t, one); e != "" {
			t.Error(e)
		}
	}
	if got := c.tokens(t); !slices.Equal(got, want[1:]) {
		t.Errorf("tokens after one claim's end %q", got)
	}
	if n, err := cards(t, env); err == nil {
		t.Errorf("a program whose claim is over sees %d cards", n)
	}
	if e := k.unprepare(t, two); e != "" {
		t.Error(e)
	}
	for _, dir := range []string{"/cdi", "/plugin/claims", "/plugin/notes"} {
		if left, err := os.ReadDir(c.dir + dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", dir, left, err)
		}
	}
}

// TestRefused: a claim that cannot be prepared says why, and leaves nothing.
func TestRefused(t *testing.T) {
	c := newCluster(t)
	k, _ := c.start(t)
	yes := true
	for name, x := range map[string]struct {
		change func(*resourceapi.ResourceClaim)
		want   string
	}{
		"card":   {func(r *resourceapi.ResourceClaim) { r.Status.Allocation.Devices.Results[1].Device = "gpu-0" }, "no card gpu-0"},
		"worker": {func(r *resourceapi.ResourceClaim) { r.Status.Allocation.Devices.Results[1].Pool = "gone" }, "no worker is known as gone"},
		"admin":  {func(r *resourceapi.ResourceClaim) { r.Status.Allocation.Devices.Results[0].AdminAccess = &yes }, ErrAdminAccess.Error()},
		"twice": {func(r *resourceapi.ResourceClaim) {
			r.Status.Allocation.Devices.Results[1] = r.Status.Allocation.Devices.Results[0]
		}, "two shares"},
		"strange": {func(r *resourceapi.ResourceClaim) {
			r.Status.Allocation.Devices.Results[0].ConsumedCapacity = map[resourceapi.QualifiedName]resource.Quantity{"lanes": resource.MustParse("1")}
		}, "lanes"},
	} {
		claim := c.claim(t, name, nil, "w0/0", "w1/1")
		x.change(claim)
		if _, err := c.api.ResourceV1().ResourceClaims("ml").Update(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if r := k.prepare(t, claim); !strings.Contains(r.Error, x.want) || len(r.Devices) > 0 {
			t.Errorf("%s: %+v, want %s", name, r, x.want)
		}
		if e := k.unprepare(t, claim); e != "" {
			t.Errorf("%s: %s", name, e)
		}
	}
	if got := c.tokens(t); len(got) > 0 {
		t.Errorf("tokens that stay: %q", got)
	}
}
