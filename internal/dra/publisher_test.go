//go:build linux

package dra

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	clienttesting "k8s.io/client-go/testing"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// published are the devices of the cluster's ResourceSlices, with their taints.
func (c *cluster) published(t *testing.T) (all []string) {
	t.Helper()
	list, err := c.api.ResourceV1().ResourceSlices().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Items {
		if s.Spec.Driver != Driver || s.Spec.AllNodes == nil || !*s.Spec.AllNodes {
			t.Errorf("slice %s: %+v", s.Name, s.Spec)
		}
		for _, d := range s.Spec.Devices {
			taints := ""
			for _, x := range d.Taints {
				taints += " " + x.Key
			}
			all = append(all, s.Spec.Pool.Name+"/"+d.Name+taints)
		}
	}
	slices.Sort(all)
	return all
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1500 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(what)
}

// TestPublish: the cluster has every card; those of a worker that does not answer have a taint, until it is back or no longer named.
func TestPublish(t *testing.T) {
	c := newCluster(t)
	var made atomic.Int64
	c.api.PrependReactor("create", "resourceslices", func(a clienttesting.Action) (bool, runtime.Object, error) { // what the API server does and the fake does not
		s := a.(clienttesting.CreateAction).GetObject().(*resourceapi.ResourceSlice)
		if s.Name == "" {
			s.Name = fmt.Sprint(s.GenerateName, made.Add(1))
		}
		s.UID = types.UID(s.Name)
		return false, nil, nil
	})
	publish := func(find func(context.Context) ([]fleet.Worker, bool, error)) (stop func()) {
		p := &Publisher{Client: c.api, Workers: find, Interval: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	stop := publish(c.all)
	var well, lost, none []string
	for i := range c.devices {
		for j := range c.devices[i] {
			name := fmt.Sprintf("w%d/%s", i, DeviceName(&c.devices[i][j]))
			well = append(well, name)
			if none = append(none, name+" rocwire.io/unreachable"); i == 1 {
				name += " rocwire.io/unreachable"
			}
			lost = append(lost, name)
		}
	}
	for _, list := range [][]string{well, lost, none} {
		slices.Sort(list)
	}
	eventually(t, "not all cards are published", func() bool { return slices.Equal(c.published(t), well) })
	c.servers[1].Close()
	eventually(t, "the cards of a worker that is away have no taint", func() bool { return slices.Equal(c.published(t), lost) })
	stop()
	if got := c.published(t); !slices.Equal(got, lost) {
		t.Errorf("after its end: %q", got)
	}
	// Another process begins while a worker is away: it keeps what was published, and so while nobody knows which workers there are.
	looks := make(chan struct{}, 1000)
	counted := func(find func(context.Context) ([]fleet.Worker, bool, error)) func(context.Context) ([]fleet.Worker, bool, error) {
		return func(ctx context.Context) ([]fleet.Worker, bool, error) {
			looks <- struct{}{}
			return find(ctx)
		}
	}
	stop = publish(counted(c.all))
	for range 5 {
		<-looks
	}
	if got := c.published(t); !slices.Equal(got, lost) {
		t.Errorf("by another process: %q", got)
	}
	stop()
	gone := atomic.Bool{}
	stop = publish(func(context.Context) ([]fleet.Worker, bool, error) { return nil, gone.Load(), nil })
	eventually(t, "what nobody finds any more has no taint", func() bool { return slices.Equal(c.published(t), none) })
	gone.Store(true)
	eventually(t, "what is no longer there stays", func() bool { return len(c.published(t)) == 0 })
	stop()
}

// TestDevice: a card is what resource.k8s.io takes.
func TestDevice(t *testing.T) {
	var report fleet.Report
	for _, s := range smitest.Machine(8, 0) {
		report.Cards = append(report.Cards, fleet.Card{DeviceSnapshot: s})
	}
	report.Cards[2].Troubles = []fleet.Trouble{{Kind: fleet.Uncorrectable}}
	report.Cards[3].Device.UUID = ""
	report.Cards[4].Device.Name = strings.Repeat("ä", 40)
	w := &fleet.Worker{Worker: dialing.Worker{Name: "Rack_1.gpu"}, Node: "n7"}
	list, err := devicesOf(w, &report)
	if err == nil || !strings.Contains(err.Error(), "GPU 3") {
		t.Errorf("a card without a UUID: %v", err)
	}
	r, err := Resources([]Known{{Pool: PoolName(w), Worker: w, Devices: list}})
	if err != nil {
		t.Error(err)
	}
	devices := r.Pools["rack-1.gpu"].Slices[0].Devices
	if len(devices) != 7 {
		t.Fatalf("%+v", r)
	}
	for i, d := range devices {
		if e := validation.IsDNS1123Label(d.Name); e != nil {
			t.Errorf("%s: %v", d.Name, e)
		}
		if len(d.Attributes)+len(d.Capacity) > resourceapi.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
			t.Errorf("%d attributes", len(d.Attributes))
		}
		for k, v := range d.Attributes {
			if v.StringValue != nil && len(*v.StringValue) > resourceapi.DeviceAttributeMaxValueLength {
				t.Errorf("%s: %q", k, *v.StringValue)
			}
		}
		if a := d.Attributes; *a["gfxTarget"].StringValue != "gfx942" || *a["worker"].StringValue != "rack-1.gpu" || *a["node"].StringValue != "n7" || *a["computeUnits"].IntValue != 304 {
			t.Errorf("%+v", a)
		}
		// The card without a UUID is not there.
		at := i
		if i >= 3 {
			at++
		}
		if a := d.Attributes; *a["numa"].IntValue != int64(at/4) || *a["index"].IntValue != int64(at) || *a["uuid"].StringValue != report.Cards[at].Device.UUID || *a["model"].StringValue == "" {
			t.Errorf("%d: %+v", at, a)
		}
		if p := d.Capacity[CapacityShare].RequestPolicy; !*d.AllowMultipleAllocations || p.Default.Value() != 100 || p.ValidRange.Min.Value() != 1 || p.ValidRange.Step.Value() != 1 {
			t.Errorf("%d: shares are %+v", at, p)
		}
		if m, s := d.Capacity[CapacityMemory].Value, d.Capacity[CapacityShare].Value; m.Value() < 100<<30 || s.Value() != 100 {
			t.Errorf("%v, %v", m, s)
		}
		if want := i == 2; (len(d.Taints) == 1) != want || want && d.Taints[0] != (resourceapi.DeviceTaint{Key: "rocwire.io/uncorrectable", Effect: resourceapi.DeviceTaintEffectNoSchedule}) {
			t.Errorf("%d: %+v", i, d.Taints)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("GPU-1", "rack.1")
	f.Add("--", "..-")
	f.Add("é", "fd00::1")
	f.Fuzz(func(t *testing.T, uuid, name string) {
		if d := DeviceName(&smi.Device{UUID: uuid}); d != "" && validation.IsDNS1123Label(d) != nil {
			t.Errorf("%q is %q", uuid, d)
		}
		w := fleet.Worker{Worker: dialing.Worker{Name: name, Address: workerlist.Address{Host: "::1", Port: "1"}}}
		if p := PoolName(&w); p != "" && (len(p) > maxPool || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "") {
			t.Errorf("%q is %q", name, p)
		}
	})
}
