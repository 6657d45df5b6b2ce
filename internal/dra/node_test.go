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
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
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
	configs []worker.Config
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
		c.configs = append(c.configs, worker.Config{Backend: b, Log: log, Socket: worker.Socket{Path: fmt.Sprintf("%s/w%d.sock", dir, i)}, Access: access.Config{IssuedFile: fmt.Sprintf("%s/issued%d", dir, i)}})
		c.servers = append(c.servers, workertest.Start(t, c.configs[i]))
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

func (c *cluster) all(ctx context.Context) ([]fleet.Worker, bool, error) {
	list, err := c.workers(ctx)
	return list, true, err
}

func (c *cluster) node() *Node {
	return &Node{Client: c.api, Dir: c.dir + "/plugin", CDI: c.dir + "/cdi", Library: c.dir + "/lib", Workers: c.workers, Timeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}
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
	for _, k := range c.issued(t) {
		uid, _, _ := strings.Cut(strings.TrimPrefix(k.ID, "dra/"), "/")
		all = append(all, fmt.Sprintf("w%d %s %s/%s %d", k.worker, uid, k.Namespace, k.Pod, len(k.Cards)))
	}
	return all
}

// issued is a token that a worker holds.
type issued struct {
	worker int
	smi.Token
}

func (c *cluster) issued(t *testing.T) (all []issued) {
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
		slices.SortFunc(tokens, func(a, b smi.Token) int { return strings.Compare(a.ID, b.ID) })
		for _, k := range tokens {
			all = append(all, issued{i, k})
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

// container is the environment of a container with all devices of some claims, its folder for them made of links instead of mounts.
func (c *cluster) container(t *testing.T, prepared ...*drapb.NodePrepareResourceResponse) map[string]string {
	t.Helper()
	env, root := map[string]string{}, t.TempDir()
	specs := map[string]*cdi.ContainerEdits{}
	files, err := filepath.Glob(c.dir + "/cdi/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s := new(cdi.Spec)
		if err := json.Unmarshal(b, s); err != nil {
			t.Fatal(err)
		}
		for i := range s.Devices {
			specs[s.Kind+"="+s.Devices[i].Name] = &s.Devices[i].ContainerEdits
		}
	}
	for _, r := range prepared {
		for _, d := range r.Devices {
			for _, id := range d.CdiDeviceIds {
				e := specs[id]
				if e == nil {
					t.Fatalf("no specification has %s", id)
				}
				for _, x := range e.Env {
					k, v, _ := strings.Cut(x, "=")
					env[k] = v
				}
				m := e.Mounts[0]
				if filepath.Dir(m.ContainerPath) != env[dialing.FileVariable] {
					t.Errorf("%s is mounted at %s", m.HostPath, m.ContainerPath)
				}
				if err := os.Symlink(m.HostPath, filepath.Join(root, filepath.Base(m.ContainerPath))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	env[dialing.FileVariable] = root
	return env
}

// cards is which cards a program in an environment sees, as the client library reads it.
func cards(env map[string]string) (uuids []string, err error) {
	for _, cfg := range hipremote.AllFromEnv(func(k string) (string, bool) {
		v, ok := env[k]
		return v, ok
	}) {
		c := hipremote.New(cfg)
		defer c.Close()
		n, code := c.GetDeviceCount()
		if code != hip.Success {
			return uuids, fmt.Errorf("%v", code)
		}
		for i := range n {
			p, code := c.GetDevicePropertiesR0600(i)
			if code != hip.Success {
				return uuids, fmt.Errorf("%v", code)
			}
			uuids = append(uuids, fmt.Sprintf("GPU-%s", p.Uuid.Bytes[:]))
		}
	}
	return uuids, nil
}

// sees checks which cards a program sees: w0/1 is the second of the first worker.
func (c *cluster) sees(t *testing.T, what string, env map[string]string, want ...string) {
	t.Helper()
	var uuids []string
	for _, card := range want {
		var w, i int
		if _, err := fmt.Sscanf(card, "w%d/%d", &w, &i); err != nil {
			t.Fatal(err)
		}
		uuids = append(uuids, c.devices[w][i].UUID)
	}
	if got, err := cards(env); err != nil || !slices.Equal(got, uuids) {
		t.Errorf("%s: a program sees %q, %v; want %q", what, got, err, uuids)
	}
}

// TestKubelet: what a kubelet asks of the driver, from registration to the end of a claim, with a restart of the driver in between.
func TestKubelet(t *testing.T) {
	c := newCluster(t)
	k, stop := c.start(t)
	one := c.claim(t, "one", map[resourceapi.QualifiedName]string{"memory": "64Mi", "share": "25"}, "w0/1")
	two := c.claim(t, "two", nil, "w1/0", "w0/0", "w1/1")
	r := k.prepare(t, one)
	if r.Error != "" || len(r.Devices) != 1 || r.Devices[0].PoolName != "w0" || len(r.Devices[0].CdiDeviceIds) != 1 || !slices.Equal(r.Devices[0].RequestNames, []string{"gpu"}) {
		t.Fatalf("%+v", r)
	}
	env := c.container(t, r)
	c.sees(t, "one", env, "w0/1")
	r2 := k.prepare(t, two)
	if r2.Error != "" || len(r2.Devices) != 3 || len(r2.Devices[2].CdiDeviceIds) != 0 {
		t.Fatalf("%+v", r2)
	}
	c.sees(t, "two", c.container(t, r2), "w1/0", "w1/1", "w0/0")
	c.sees(t, "both claims in one container", c.container(t, r, r2), "w0/1", "w1/0", "w1/1", "w0/0")
	want := []string{"w0 uid-one ml/pod-one 1", "w0 uid-two ml/pod-two 1", "w1 uid-two ml/pod-two 2"}
	if got := c.tokens(t); !slices.Equal(got, want) {
		t.Errorf("tokens %q", got)
	}
	// Again, and by another process after a restart of the node: the same, and the same token.
	stop()
	if err := os.RemoveAll(c.dir + "/cdi"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.node().shareFolder(one.UID, 0), fileToken)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	k, _ = c.start(t)
	for range 2 {
		again := k.prepare(t, one)
		if again.Error != "" || again.Devices[0].CdiDeviceIds[0] != r.Devices[0].CdiDeviceIds[0] {
			t.Errorf("again: %+v", again)
		}
		c.sees(t, "again", c.container(t, again), "w0/1")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
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
	if seen, err := cards(env); err == nil {
		t.Errorf("a program whose claim is over sees %q", seen)
	}
	if e := k.unprepare(t, two); e != "" {
		t.Error(e)
	}
	c.nothingLeft(t)
}

// nothingLeft checks that the node has forgotten all claims.
func (c *cluster) nothingLeft(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/cdi", "/plugin/claims", "/plugin/notes", "/plugin/revoke"} {
		if left, err := os.ReadDir(c.dir + dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", dir, left, err)
		}
	}
}

// TestRequests: a container that is given one request of a claim has the cards of that one alone, and the quota.
func TestRequests(t *testing.T) {
	c := newCluster(t)
	k, _ := c.start(t)
	claim := c.claim(t, "pair", map[resourceapi.QualifiedName]string{"memory": "64Mi"}, "w0/0", "w0/1")
	r := claim.Status.Allocation.Devices.Results
	r[1].Request, r[1].ConsumedCapacity = "small", map[resourceapi.QualifiedName]resource.Quantity{"memory": resource.MustParse("32Mi")}
	if _, err := c.api.ResourceV1().ResourceClaims("ml").Update(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := k.prepare(t, claim)
	if p.Error != "" || len(p.Devices) != 2 {
		t.Fatalf("%+v", p)
	}
	for i, d := range p.Devices {
		c.sees(t, d.RequestNames[0], c.container(t, &drapb.NodePrepareResourceResponse{Devices: []*drapb.Device{d}}), fmt.Sprintf("w0/%d", i))
	}
	c.sees(t, "the whole claim", c.container(t, p), "w0/0", "w0/1")
}

// TestWorkerAway: a claim ends although its worker does not answer, and its token is taken back when it does.
func TestWorkerAway(t *testing.T) {
	c := newCluster(t)
	k, _ := c.start(t)
	claim := c.claim(t, "x", nil, "w0/0", "w1/0")
	p := k.prepare(t, claim)
	if p.Error != "" {
		t.Fatal(p.Error)
	}
	c.servers[1].Close()
	if e := k.unprepare(t, claim); e != "" {
		t.Errorf("while a worker is away: %s", e)
	}
	// The next pod with the claim waits for the worker, and its tokens are others.
	if p := k.prepare(t, claim); p.Error == "" {
		t.Error("prepared without its worker")
	}
	n := c.node()
	if err := n.settle(t.Context(), nil); err == nil {
		t.Error("a token was taken back from a worker that is away")
	}
	c.servers[1] = workertest.Start(t, c.configs[1])
	p = k.prepare(t, claim)
	if p.Error != "" {
		t.Fatal(p.Error)
	}
	if err := n.settle(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if got, want := c.tokens(t), []string{"w0 uid-x ml/pod-x 1", "w1 uid-x ml/pod-x 1"}; !slices.Equal(got, want) {
		t.Errorf("tokens %q", got)
	}
	c.sees(t, "again", c.container(t, p), "w0/0", "w1/0")
	if e := k.unprepare(t, claim); e != "" {
		t.Error(e)
	}
	c.nothingLeft(t)
	// What has expired is not waited for.
	g := grant{Pool: "gone", Token: smi.Token{ID: "dra/x/1", Expires: time.Now().Add(time.Hour)}}
	for i, hour := range []time.Duration{1, -1} {
		g.Token.Expires = time.Now().Add(hour * time.Hour)
		if err := n.noteRevocation(&g); err != nil {
			t.Fatal(err)
		}
		if err := n.settle(t.Context(), nil); (err == nil) != (i == 1) {
			t.Errorf("a token of a worker that is gone: %v", err)
		}
	}
	c.nothingLeft(t)
}

// TestRenewed: the tokens of a claim that lasts are made good for longer, and those of one that is gone are taken back.
func TestRenewed(t *testing.T) {
	c := newCluster(t)
	k, _ := c.start(t)
	claim := c.claim(t, "long", nil, "w0/0", "w1/1")
	p := k.prepare(t, claim)
	if p.Error != "" {
		t.Fatal(p.Error)
	}
	n := c.node()
	expires := func() time.Time {
		t.Helper()
		note, err := n.load(claim.UID)
		if err != nil || note == nil {
			t.Fatalf("%+v, %v", note, err)
		}
		for i := range note.Grants {
			if !note.Grants[i].Token.Expires.Equal(note.Grants[0].Token.Expires) {
				t.Errorf("%+v", note.Grants)
			}
		}
		return note.Grants[0].Token.Expires
	}
	first := expires()
	if err := n.renewAll(t.Context(), time.Now()); err != nil || !expires().Equal(first) {
		t.Errorf("renewed before it is due: %v", err)
	}
	later := time.Now().Add(tokenTime - renewAt + time.Minute)
	if err := n.renewAll(t.Context(), later); err != nil || !expires().Equal(later.Add(tokenTime).Truncate(time.Second)) {
		t.Errorf("not renewed: %v", err)
	}
	for _, token := range c.issued(t) {
		if !token.Expires.Equal(expires()) {
			t.Errorf("a worker has %v", token.Expires)
		}
	}
	c.sees(t, "renewed", c.container(t, p), "w0/0", "w1/1")
	if err := c.api.ResourceV1().ResourceClaims("ml").Delete(t.Context(), claim.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := n.renewAll(t.Context(), later.Add(tokenTime)); err != nil {
		t.Error(err)
	}
	if got := c.tokens(t); len(got) > 0 {
		t.Errorf("tokens of a claim that is gone: %q", got)
	}
	c.nothingLeft(t)
}

// TestTokenFile: a token is for those alone who run in its pod, as far as that is known.
func TestTokenFile(t *testing.T) {
	c := newCluster(t)
	k, _ := c.start(t)
	user, group, other := int64(1234), int64(5678), int64(99)
	no, yes := false, true
	for i, x := range []struct {
		spec     corev1.PodSpec
		shared   bool
		mode     os.FileMode
		uid, gid uint32
	}{
		{corev1.PodSpec{}, false, 0o444, 0, 0},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}}, false, 0o400, 1234, 0},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}}, true, 0o444, 0, 0},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}, HostUsers: &no}, false, 0o444, 0, 0},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{FSGroup: &group}}, false, 0o440, 0, 5678},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user, FSGroup: &group}, InitContainers: []corev1.Container{{SecurityContext: &corev1.SecurityContext{RunAsUser: &other}}}}, false, 0o440, 0, 5678},
		{corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: &user}, InitContainers: []corev1.Container{{SecurityContext: &corev1.SecurityContext{RunAsUser: &other}}}}, false, 0o444, 0, 0},
	} {
		x.spec.Containers = []corev1.Container{{Name: "c"}}
		name := fmt.Sprint("t", i)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml", UID: types.UID("pod-" + name)}, Spec: x.spec}
		if _, err := c.api.CoreV1().Pods("ml").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		claim := c.claim(t, name, map[resourceapi.QualifiedName]string{"share": "1"}, "w0/0")
		if !x.shared {
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: name, UID: pod.UID, Controller: &yes}}
			if _, err := c.api.ResourceV1().ResourceClaims("ml").Update(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if os.Getuid() != 0 && (x.uid != 0 || x.gid != 0) {
			continue // only root gives files away
		}
		if r := k.prepare(t, claim); r.Error != "" {
			t.Errorf("%s: %s", name, r.Error)
			continue
		}
		dir := c.node().folder(claim.UID)
		info, err := os.Stat(filepath.Join(dir, "0", fileToken))
		if err != nil {
			t.Fatal(err)
		}
		s := info.Sys().(*syscall.Stat_t)
		if info.Mode() != x.mode || os.Getuid() == 0 && (s.Uid != x.uid || s.Gid != x.gid) {
			t.Errorf("%d: %v of %d:%d, want %v", i, info.Mode(), s.Uid, s.Gid, x.mode)
		}
		for _, above := range []string{dir, filepath.Dir(dir)} {
			if info, err := os.Stat(above); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("others come to %s: %v, %v", above, info.Mode(), err)
			}
		}
		if e := k.unprepare(t, claim); e != "" {
			t.Error(e)
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
