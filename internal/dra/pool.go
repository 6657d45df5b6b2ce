package dra

import (
	"errors"
	"fmt"
	"slices"
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

// Known is what is known of a worker: its devices as they were when it last answered, and why it does not now.
type Known struct {
	Pool    string
	Worker  *fleet.Worker // nil: it was published by an earlier process, and has not been found since
	Devices []resourceapi.Device
	Err     error // of the last question
}

func (w *Known) label() string {
	if w.Worker != nil {
		return w.Worker.Label()
	}
	return w.Pool
}

// devicesOf are a worker's. The error is of those that cannot be published.
func devicesOf(w *fleet.Worker, report *fleet.Report) (devices []resourceapi.Device, err error) {
	var wrong []string
	seen := map[string]bool{}
	for i := range report.Cards {
		d := device(PoolName(w), w.Node, &report.Cards[i])
		if d.Name == "" || seen[d.Name] {
			wrong = append(wrong, fmt.Sprintf("worker %s: GPU %d has no UUID of its own to know it by", w.Label(), report.Cards[i].Device.Index))
			continue
		}
		seen[d.Name] = true
		devices = append(devices, d)
	}
	if wrong != nil {
		return devices, errors.New(strings.Join(wrong, "; "))
	}
	return devices, nil
}

// Resources are the pools of workers. A worker that does not answer keeps its devices, with a taint: its cards may be in use. The error is of workers that
// cannot be published; the others are there.
func Resources(workers []Known) (resourceslice.DriverResources, error) {
	r := resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{}}
	var wrong []string
	for i := range workers {
		w := &workers[i]
		if _, twice := r.Pools[w.Pool]; twice || w.Pool == "" {
			wrong = append(wrong, fmt.Sprintf("worker %s: its pool would be called %q, as another's: give it a name in the configuration file", w.label(), w.Pool))
			continue
		}
		devices := slices.Clone(w.Devices)
		for j := range devices {
			d := &devices[j]
			d.Taints = slices.DeleteFunc(slices.Clone(d.Taints), func(t resourceapi.DeviceTaint) bool { return t.Key == Driver+"/"+unreached })
			if w.Err != nil {
				d.Taints = append(d.Taints, taint(unreached))
			}
		}
		pool := resourceslice.Pool{AllNodes: true}
		for first := 0; first < len(devices) || first == 0; first += perSlice {
			pool.Slices = append(pool.Slices, resourceslice.Slice{Devices: devices[first:min(first+perSlice, len(devices))]})
		}
		r.Pools[w.Pool] = pool
	}
	if wrong != nil {
		return r, errors.New(strings.Join(wrong, "; "))
	}
	return r, nil
}

func device(pool, node string, k *fleet.Card) resourceapi.Device {
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
	for name, s := range map[resourceapi.QualifiedName]string{"worker": pool, "node": node, "model": k.Device.Name, "gfxTarget": target, "uuid": k.Device.UUID} {
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
