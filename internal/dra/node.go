package dra

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/outbound"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// Node lets pods of this node in on the workers whose cards their claims were allocated. It is a kubeletplugin.DRAPlugin.
type Node struct {
	Dir     string // for what prepared claims need; it outlives this process and the node's restart
	CDI     string // where container runtimes look for CDI specifications
	Library string // folder with the client library, for containers
	// Workers are all that there are.
	Workers func(context.Context) ([]fleet.Worker, error)
	Timeout time.Duration // of each worker; 0: 10 s
	Log     *slog.Logger
	// Fatal is told of errors after which the driver cannot go on.
	Fatal func(error)
}

var _ kubeletplugin.DRAPlugin = (*Node)(nil)

// tokenTime is how long a claim's token is good unless it is renewed.
const tokenTime = 30 * 24 * time.Hour

// tokenID is that of a claim's tokens.
func tokenID(uid types.UID) string { return "dra/" + string(uid) }

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

// WatchHealthStatus implements kubeletplugin.DRAPlugin: the health of cards is in the taints of what is published.
func (n *Node) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}

// prepare does what a claim's containers need. Again, it finds it done; what was half done when the driver died is taken back first.
func (n *Node) prepare(ctx context.Context, claim *resourceapi.ResourceClaim) (devices []kubeletplugin.Device, err error) {
	wanted, err := shares(claim)
	if err != nil {
		return nil, err
	}
	c, err := n.load(claim.UID)
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
	// A node that has been restarted has lost it.
	if err := n.writeSpec(claim.UID, c); err != nil {
		return nil, err
	}
	return prepared(claim, c), nil
}

// is reports whether a checkpoint is of what is wanted.
func (c *checkpoint) is(wanted []share) bool {
	return slices.EqualFunc(c.Grants, wanted, func(g grant, s share) bool {
		return g.Pool == s.pool && slices.Equal(g.Devices, s.devices) && g.Token.Quota == s.quota
	})
}

// prepared tells the kubelet which CDI device each of the claim's devices is.
func prepared(claim *resourceapi.ResourceClaim, c *checkpoint) (devices []kubeletplugin.Device) {
	numbers, n := map[[2]string]int{}, 0
	for _, g := range c.Grants {
		for _, d := range g.Devices {
			numbers[[2]string{g.Pool, d}] = n
			n++
		}
	}
	for _, r := range claim.Status.Allocation.Devices.Results {
		if r.Driver == Driver {
			devices = append(devices, kubeletplugin.Device{
				Requests: []string{r.Request}, PoolName: r.Pool, DeviceName: r.Device, ShareID: r.ShareID,
				CDIDeviceIDs: []string{cdiKind + "=" + cdiDevice(claim.UID, numbers[[2]string{r.Pool, r.Device}])},
			})
		}
	}
	return devices
}

// member is a worker that a claim has cards of.
type member struct {
	worker fleet.Worker
	client *smiremote.Client
	grant  *grant
	places []int // how many-th its cards are on the worker
}

// members finds the workers of a claim. One that is no longer known is an error, unless gone is told of it.
func (n *Node) members(ctx context.Context, c *checkpoint, gone func(pool string)) (list []*member, err error) {
	workers, err := n.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range c.Grants {
		g := &c.Grants[i]
		at := slices.IndexFunc(workers, func(w fleet.Worker) bool { return PoolName(&w) == g.Pool })
		switch {
		case at >= 0:
			w := workers[at]
			list = append(list, &member{worker: w, grant: g, client: n.client(&w)})
		case gone != nil:
			gone(g.Pool)
		default:
			closeAll(list)
			return nil, fmt.Errorf("no worker is known as %s: the node's list of workers is another one than the cluster's", g.Pool)
		}
	}
	return list, nil
}

func (n *Node) client(w *fleet.Worker) *smiremote.Client {
	return smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), ConnectTimeout: n.timeout(), IOTimeout: n.timeout(), Dialing: w.Settings, Name: "rocwire-dra", Version: version.String(),
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
func (n *Node) each(ctx context.Context, list []*member, do func(context.Context, *member) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, m := range list {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, n.timeout())
			defer cancel()
			if err := do(ctx, m); err != nil {
				errs[i] = fmt.Errorf("worker %s: %w", m.grant.Pool, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// grant has tokens issued for a claim and writes what its programs need. An error leaves nothing behind, but for what could not be taken back, which the
// checkpoint knows.
func (n *Node) grant(ctx context.Context, claim *resourceapi.ResourceClaim, wanted []share) (c *checkpoint, err error) {
	secret, digest := smi.NewTokenSecret()
	c = &checkpoint{Name: claim.Name, Namespace: claim.Namespace}
	for _, s := range wanted {
		c.Grants = append(c.Grants, grant{Pool: s.pool, Devices: s.devices, Token: smi.Token{
			ID: tokenID(claim.UID), SHA256: digest, User: claim.Namespace, Namespace: claim.Namespace, Pod: pod(claim), Quota: s.quota,
			Expires: time.Now().Add(tokenTime).Truncate(time.Second),
		}})
	}
	list, err := n.members(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	defer closeAll(list)
	if err := n.each(ctx, list, resolve); err != nil {
		return nil, err
	}
	if err := n.save(claim.UID, c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.unprepare(context.WithoutCancel(ctx), claim.UID))
		}
	}()
	err = n.each(ctx, list, func(ctx context.Context, m *member) (err error) {
		m.places, err = m.client.IssueToken(ctx, m.grant.Token)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := n.furnish(claim.UID, c, list, secret); err != nil {
		return nil, err
	}
	c.Ready = true
	return c, n.save(claim.UID, c)
}

// resolve finds the UUIDs of a claim's cards of one worker.
func resolve(ctx context.Context, m *member) error {
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

// furnish writes a claim's folder: its token, the CAs of its workers, and the configuration file that names them. Containers run as any user, so all may
// read it; on the node only root comes near it.
func (n *Node) furnish(uid types.UID, c *checkpoint, list []*member, secret string) error {
	dir := n.folder(uid)
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	var workers []dialing.Worker
	c.Visible = nil
	for i, m := range list {
		before, order := len(c.Visible), slices.Sorted(slices.Values(m.places))
		for _, place := range m.places {
			at, _ := slices.BinarySearch(order, place)
			c.Visible = append(c.Visible, before+at)
		}
		w := m.worker.Worker
		w.TokenFile, w.TLS.Cert, w.TLS.Key = filepath.Join(dir, fileToken), "", ""
		if w.TLS.CA != "" {
			pem, err := outbound.ReadFile(w.TLS.CA, 4<<20)
			if err != nil {
				return err
			}
			w.TLS.CA = filepath.Join(dir, "ca"+strconv.Itoa(i)+".crt")
			if err := wholefile.Write(w.TLS.CA, pem, 0o444); err != nil {
				return err
			}
		}
		workers = append(workers, w)
	}
	config, names, err := dialing.FileOf(workers)
	if err != nil {
		return err
	}
	c.Hosts = names
	return errors.Join(wholefile.Write(filepath.Join(dir, fileToken), []byte(secret+"\n"), 0o444), wholefile.Write(filepath.Join(dir, fileConfig), config, 0o444))
}

// unprepare takes back what prepare has done, and ends what the claim's programs have left on the workers. Again, there is nothing to do. A worker that
// cannot be reached is an error, and is asked again by the kubelet; one that is no longer in the list of workers is left.
func (n *Node) unprepare(ctx context.Context, uid types.UID) error {
	c, err := n.load(uid)
	if err != nil {
		return err
	}
	if c != nil {
		list, err := n.members(ctx, c, func(pool string) {
			n.Log.Warn("a claim's token stays on a worker that is no longer known, until it expires", "worker", pool, "token", tokenID(uid))
		})
		if err != nil {
			return err
		}
		defer closeAll(list)
		err = n.each(ctx, list, func(ctx context.Context, m *member) error {
			_, err := m.client.RevokeToken(ctx, m.grant.Token.ID)
			if errors.Is(err, smi.ErrNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return n.forget(uid)
}
