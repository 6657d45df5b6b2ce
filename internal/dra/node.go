package dra

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/outbound"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// Node lets pods of this node in on the workers whose cards their claims were allocated. It is a kubeletplugin.DRAPlugin, and Keep goes on beside.
type Node struct {
	Dir     string // for what prepared claims need; it outlives this process and the node's restart
	CDI     string // where container runtimes look for CDI specifications
	Library string // folder with the client library, for containers; "": images have it
	// Workers are all that there are.
	Workers func(context.Context) ([]fleet.Worker, error)
	Client  kubernetes.Interface
	Timeout time.Duration // of each worker; 0: 10 s
	Log     *slog.Logger
	// Fatal is told of errors after which the driver cannot go on.
	Fatal func(error)

	mu sync.Mutex // of the checkpoints, which Keep changes too
}

var _ kubeletplugin.DRAPlugin = (*Node)(nil)

// PrepareResourceClaims implements kubeletplugin.DRAPlugin.
func (n *Node) PrepareResourceClaims(ctx context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	results := map[types.UID]kubeletplugin.PrepareResult{}
	for _, c := range claims {
		devices, err := n.prepare(ctx, c)
		if err != nil {
			err = fmt.Errorf("claim %s/%s: %w", c.Namespace, c.Name, err)
			n.Log.Warn("claim not prepared", "reason", err)
		}
		results[c.UID] = kubeletplugin.PrepareResult{Err: err, Devices: devices}
	}
	return results, nil
}

// UnprepareResourceClaims implements kubeletplugin.DRAPlugin.
func (n *Node) UnprepareResourceClaims(ctx context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	results := map[types.UID]error{}
	for _, c := range claims {
		err := n.unprepare(ctx, c.UID)
		if err != nil {
			err = fmt.Errorf("claim %s/%s: %w", c.Namespace, c.Name, err)
			n.Log.Warn("claim not taken back", "reason", err)
		}
		results[c.UID] = err
	}
	return results, nil
}

// HandleError implements kubeletplugin.DRAPlugin.
func (n *Node) HandleError(_ context.Context, err error, msg string) {
	n.Log.Error(msg, "reason", err)
	if !errors.Is(err, kubeletplugin.ErrRecoverable) && n.Fatal != nil {
		n.Fatal(fmt.Errorf("%s: %w", msg, err))
	}
}

// WatchHealthStatus implements kubeletplugin.DRAPlugin: the health of cards is in the taints of what is published. Who starts the driver says that it has no
// service of health (kubeletplugin.HealthService), or kubelets ask for it and each time that is an error in the log.
func (n *Node) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}

// prepare does what a claim's containers need. Again, it finds it done; what was half done when the driver died is taken back first.
func (n *Node) prepare(ctx context.Context, claim *resourceapi.ResourceClaim) (devices []kubeletplugin.Device, err error) {
	wanted, err := shares(claim)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	c, err := n.load(claim.UID)
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if c != nil && !(c.Ready && c.is(wanted)) {
		if err := n.unprepare(ctx, claim.UID); err != nil {
			return nil, err
		}
		c = nil
	}
	if c == nil {
		if c, err = n.grant(ctx, claim, wanted); err != nil {
			return nil, err
		}
	}
	// A node that has been restarted has lost them.
	if err := n.writeSpecs(claim.UID, c); err != nil {
		return nil, err
	}
	return prepared(claim, c), nil
}

// is reports whether a checkpoint is of what is wanted.
func (c *checkpoint) is(wanted []share) bool {
	return slices.EqualFunc(c.Grants, wanted, func(g grant, s share) bool {
		return g.Pool == s.pool && g.Request == s.request && slices.Equal(g.Devices, s.devices) && g.Token.Quota == s.quota
	})
}

// prepared tells the kubelet which CDI device belongs to which of the claim's devices: that of a share to its first, so that a container gets it once.
func prepared(claim *resourceapi.ResourceClaim, c *checkpoint) (devices []kubeletplugin.Device) {
	for _, r := range claim.Status.Allocation.Devices.Results {
		if r.Driver != Driver {
			continue
		}
		d := kubeletplugin.Device{Requests: []string{r.Request}, PoolName: r.Pool, DeviceName: r.Device, ShareID: r.ShareID}
		for i, g := range c.Grants {
			if g.Pool == r.Pool && g.Request == r.Request && g.Devices[0] == r.Device {
				d.CDIDeviceIDs = []string{cdiKind + "=" + shareName(claim.UID, i)}
			}
		}
		devices = append(devices, d)
	}
	return devices
}

// member is a worker that a share has cards of.
type member struct {
	worker fleet.Worker
	client *smiremote.Client
	grant  *grant
}

// members finds the workers of a claim's shares.
func (n *Node) members(ctx context.Context, c *checkpoint) (list []*member, err error) {
	workers, err := n.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range c.Grants {
		g := &c.Grants[i]
		w := workerOf(workers, g.Pool)
		if w == nil {
			closeAll(list)
			return nil, fmt.Errorf("no worker is known as %s: the node's list of workers is another one than the cluster's", g.Pool)
		}
		list = append(list, &member{worker: *w, grant: g, client: connect(w, n.timeout())})
	}
	return list, nil
}

// workerOf is the one whose pool is called so; nil if there is none.
func workerOf(workers []fleet.Worker, pool string) *fleet.Worker {
	if at := slices.IndexFunc(workers, func(w fleet.Worker) bool { return PoolName(&w) == pool }); at >= 0 {
		return &workers[at]
	}
	return nil
}

// connect is a client of a worker, which may take so long.
func connect(w *fleet.Worker, timeout time.Duration) *smiremote.Client {
	return smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), ConnectTimeout: timeout, IOTimeout: timeout, Dialing: w.Settings, Name: "rocwire-dra", Version: version.String(),
	})
}

func (n *Node) timeout() time.Duration {
	if n.Timeout > 0 {
		return n.Timeout
	}
	return 10 * time.Second
}

func closeAll(list []*member) {
	for _, m := range list {
		_ = m.client.Close() // what a connection says while it ends is of no use
	}
}

// each does something on all workers, side by side.
func (n *Node) each(ctx context.Context, list []*member, do func(context.Context, int, *member) error) error {
	errs := make([]error, len(list))
	fleet.SideBySide(len(list), func(i int) {
		ctx, cancel := context.WithTimeout(ctx, n.timeout())
		defer cancel()
		if err := do(ctx, i, list[i]); err != nil {
			errs[i] = fmt.Errorf("worker %s: %w", list[i].grant.Pool, err)
		}
	})
	return errors.Join(errs...)
}

// tokenIDs makes those of a claim's shares, other ones each time: what is still to be taken back of an earlier time is none of them.
func tokenIDs(uid types.UID) func(i int) string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // does not fail
	return func(i int) string { return fmt.Sprintf("dra/%s/%x%02d", uid, b, i) }
}

// quotaGroup names the tokens of one share of a claim, of which each node that the claim's pods are on has one of its own. The order of the shares follows
// from the allocation.
func quotaGroup(uid types.UID, i int) string { return fmt.Sprintf("dra/%s/%02d", uid, i) }

// grant has tokens issued for a claim and writes what its programs need. An error leaves nothing behind, but for what could not be taken back yet.
func (n *Node) grant(ctx context.Context, claim *resourceapi.ResourceClaim, wanted []share) (c *checkpoint, err error) {
	c = &checkpoint{UID: claim.UID, Name: claim.Name, Namespace: claim.Namespace}
	id, secrets := tokenIDs(claim.UID), make([]string, len(wanted))
	for i, s := range wanted {
		g := grant{Pool: s.pool, Request: s.request, Devices: s.devices, Token: smi.Token{
			ID: id(i), User: claim.Namespace, Namespace: claim.Namespace, Pod: pod(claim), Quota: s.quota, QuotaGroup: quotaGroup(claim.UID, i), Expires: time.Now().Add(tokenTime).Truncate(time.Second),
		}}
		secrets[i], g.Token.SHA256 = smi.NewTokenSecret()
		c.Grants = append(c.Grants, g)
	}
	list, err := n.members(ctx, c)
	if err != nil {
		return nil, err
	}
	defer closeAll(list)
	if err := n.each(ctx, list, resolve); err != nil {
		return nil, err
	}
	if err := n.save(c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.unprepare(context.WithoutCancel(ctx), claim.UID))
		}
	}()
	err = n.each(ctx, list, func(ctx context.Context, _ int, m *member) error {
		_, err := m.client.IssueToken(ctx, m.grant.Token)
		return err
	})
	if err != nil {
		return nil, err
	}
	owner := n.owner(ctx, claim)
	for i, m := range list {
		if err := n.furnish(n.shareFolder(claim.UID, i), shareName(claim.UID, i), m, secrets[i], owner); err != nil {
			return nil, err
		}
	}
	c.Ready = true
	return c, n.save(c)
}

// resolve finds the UUIDs of a share's cards.
func resolve(ctx context.Context, _ int, m *member) error {
	devices, err := m.client.Devices(ctx)
	if err != nil {
		return err
	}
	for _, name := range m.grant.Devices {
		at := slices.IndexFunc(devices, func(d smi.Device) bool { return DeviceName(&d) == name })
		if at < 0 {
			return smi.Errorf(smi.ErrNotFound, "it has no card %s any more", name)
		}
		m.grant.Token.Cards = append(m.grant.Token.Cards, devices[at].UUID)
	}
	return nil
}

// furnish writes a share's folder: its token, the CA of its worker, and the configuration file that names it.
func (n *Node) furnish(dir, name string, m *member, secret string, owner owner) error {
	claim := filepath.Dir(dir)
	// On the node only root comes near it.
	if err := errors.Join(os.MkdirAll(filepath.Dir(claim), 0o700), os.MkdirAll(claim, 0o700), os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	w := m.worker.Worker
	w.Name, w.TokenFile, w.TLS.Cert, w.TLS.Key = name, filepath.Join(dir, fileToken), "", ""
	if w.TLS.CA != "" {
		pem, err := outbound.ReadFile(w.TLS.CA, 4<<20)
		if err != nil {
			return err
		}
		w.TLS.CA = filepath.Join(dir, fileCA)
		if err := wholefile.Write(w.TLS.CA, pem, 0o444); err != nil {
			return err
		}
	}
	config, _, err := dialing.FileOf([]dialing.Worker{w}, dir)
	if err != nil {
		return err
	}
	return errors.Join(owner.write(w.TokenFile, []byte(secret+"\n")), wholefile.Write(filepath.Join(dir, fileConfig), config, 0o444))
}

// unprepare takes back what prepare has done, and ends what the claim's programs have left on the workers. Again, there is nothing to do. A worker that
// does not answer is asked again by Keep.
func (n *Node) unprepare(ctx context.Context, uid types.UID) error {
	ids, err := n.end(uid)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := n.settle(ctx, func(r *revocation) bool { return slices.Contains(ids, r.ID) }); err != nil {
		n.Log.Warn("a claim's tokens are taken back later", "claim", uid, "reason", err)
	}
	return nil
}

// end has a claim forgotten here, and its tokens, whose ids it returns, noted to be taken back.
func (n *Node) end(uid types.UID) (ids []string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, err := n.load(uid)
	if err != nil {
		return nil, err
	}
	if c != nil {
		for i := range c.Grants {
			if err := n.noteRevocation(&c.Grants[i]); err != nil {
				return nil, err
			}
			ids = append(ids, c.Grants[i].Token.ID)
		}
	}
	return ids, n.forget(uid)
}
