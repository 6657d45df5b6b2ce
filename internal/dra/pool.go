package dra

import (
	"fmt"
	"strings"
	"unicode/utf8"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/resourceslice"
	"k8s.io/utils/ptr"

	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
)

// Limits of resource.k8s.io.
const (
	maxText    = 64 // bytes of an attribute
	perSlice   = 64 // devices, where some have taints
	maxPool    = 253
	maxLabel   = 63
	unreached  = "unreachable"
	deviceName = "gpu-"
)

// PoolName is that of a worker's pool: how the worker is called, or where it is.
func PoolName(w *fleet.Worker) string {
	s := w.Name
	if s == "" {
		s = w.Address.String()
	}
	s = lowered(s, ".")
	for strings.Contains(s, "..") || strings.Contains(s, ".-") || strings.Contains(s, "-.") {
		s = strings.NewReplacer("..", ".", ".-", ".", "-.", ".").Replace(s)
	}
	return strings.Trim(s[:min(len(s), maxPool)], "-.")
}

// DeviceName is that of a card in its pool: by its UUID, which is what tokens are issued for; "" if it has none.
func DeviceName(d *smi.Device) string {
	id := strings.Trim(lowered(d.UUID, ""), "-")
	if id == "" {
		return ""
	}
	s := deviceName + id
	return strings.TrimRight(s[:min(len(s), maxLabel)], "-")
}

// lowered is s in lower case with - in place of all but letters, digits and what else is allowed.
func lowered(s, allowed string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(allowed, r) {
			return r
		}
		return '-'
	}, strings.ToLower(s))
}

// Known is what is known of a worker: its last report, and why there is none of now.
type Known struct {
	Worker fleet.Worker
	Report *fleet.Report // nil: it has never answered
	Err    error         // of the last question
}

// Resources are the pools of workers. A worker that does not answer keeps its devices, with a taint: its cards may be in use. The error is of those that
// cannot be published; the others are there.
func Resources(workers []Known) (resourceslice.DriverResources, error) {
	r := resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{}}
	var wrong []string
	for i := range workers {
		w := &workers[i]
		name := PoolName(&w.Worker)
		if _, twice := r.Pools[name]; twice || name == "" {
			wrong = append(wrong, fmt.Sprintf("worker %s: its pool would be called %q, as another's: give it a name in the configuration file", w.Worker.Label(), name))
			continue
		}
		var devices []resourceapi.Device
		seen := map[string]bool{}
		if w.Report != nil {
			for j := range w.Report.Cards {
				d := device(name, &w.Report.Cards[j], w.Err != nil)
				if d.Name == "" || seen[d.Name] {
					wrong = append(wrong, fmt.Sprintf("worker %s: GPU %d has no UUID of its own to know it by", w.Worker.Label(), w.Report.Cards[j].Device.Index))
					continue
				}
				seen[d.Name] = true
				devices = append(devices, d)
			}
		}
		pool := resourceslice.Pool{AllNodes: true}
		for first := 0; first < len(devices) || first == 0; first += perSlice {
			pool.Slices = append(pool.Slices, resourceslice.Slice{Devices: devices[first:min(first+perSlice, len(devices))]})
		}
		r.Pools[name] = pool
	}
	if wrong != nil {
		return r, fmt.Errorf("not all cards are published: %s", strings.Join(wrong, "; "))
	}
	return r, nil
}

func device(worker string, k *fleet.Card, lost bool) resourceapi.Device {
	d := resourceapi.Device{
		Name: DeviceName(&k.Device), AllowMultipleAllocations: ptr.To(true),
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"index": number(k.Device.Index)},
		Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{CapacityShare: {
			Value: resource.MustParse("100"),
			RequestPolicy: &resourceapi.CapacityRequestPolicy{
				Default:    ptr.To(resource.MustParse("100")),
				ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: ptr.To(resource.MustParse("1")), Max: ptr.To(resource.MustParse("100")), Step: ptr.To(resource.MustParse("1"))},
			},
		}},
	}
	target, _, _ := strings.Cut(k.Device.Target, ":")
	for name, s := range map[resourceapi.QualifiedName]string{"worker": worker, "model": k.Device.Name, "gfxTarget": target, "uuid": k.Device.UUID} {
		if s = cut(s); s != "" {
			d.Attributes[name] = resourceapi.DeviceAttribute{StringValue: &s}
		}
	}
	if i := k.Info; i != nil {
		if n, ok := i.ASIC.ComputeUnits.Get(); ok {
			d.Attributes["computeUnits"] = number(n)
		}
		if n, ok := i.NUMA.Node.Get(); ok {
			d.Attributes["numa"] = number(n)
		}
		if i.Driver.Name != "" {
			d.Attributes["driver"] = resourceapi.DeviceAttribute{StringValue: ptr.To(cut(i.Driver.Name))}
		}
	}
	if total, _ := k.Memory(); total.Ok() {
		d.Capacity[CapacityMemory] = resourceapi.DeviceCapacity{Value: *resource.NewQuantity(int64(total.Or(0)), resource.BinarySI)}
	}
	for _, t := range k.Troubles {
		d.Taints = append(d.Taints, taint(t.Kind))
	}
	if lost {
		d.Taints = append(d.Taints, taint(unreached))
	}
	return d
}

// taint keeps new claims away. Who has the card keeps it: what runs may still go on, or is better at knowing that it cannot.
func taint(kind string) resourceapi.DeviceTaint {
	return resourceapi.DeviceTaint{Key: Driver + "/" + kind, Effect: resourceapi.DeviceTaintEffectNoSchedule}
}

func number[T ~int](n T) resourceapi.DeviceAttribute {
	return resourceapi.DeviceAttribute{IntValue: ptr.To(int64(n))}
}

// cut makes a text fit an attribute.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	for len(s) > maxText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}
