package dra

import (
	"encoding/json"
	"fmt"
	"testing"

	resourceapi "k8s.io/api/resource/v1"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/smi/smitest"
)

// BenchmarkResources is what it costs to say again what the pools of fleets are, of workers with 8 cards, and how large the object of one is: docs/scale.md.
func BenchmarkResources(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 12_500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			known := make([]Known, n)
			for i := range known {
				w := &fleet.Worker{Worker: dialing.Worker{Address: workerlist.Address{Host: fmt.Sprintf("gpu-%05d.cluster-a.gpu.example", i), Port: workerlist.DefaultPort}}}
				r := &fleet.Report{}
				for _, c := range smitest.Machine(8, 0) {
					c.Device.UUID = fmt.Sprintf("%s-%d", c.Device.UUID, i)
					r.Cards = append(r.Cards, fleet.Card{DeviceSnapshot: c})
				}
				devices, err := devicesOf(w, r)
				if err != nil {
					b.Fatal(err)
				}
				known[i] = Known{Pool: PoolName(w), Worker: w, Devices: devices}
			}
			b.ReportAllocs()
			slices := 0
			for b.Loop() {
				r, err := Resources(known)
				if err != nil {
					b.Fatal(err)
				}
				slices = len(r.Pools)
			}
			text, err := json.Marshal(resourceapi.ResourceSlice{Spec: resourceapi.ResourceSliceSpec{Driver: Driver, Devices: known[0].Devices}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(slices), "slices")
			b.ReportMetric(float64(len(text)), "B/slice")
		})
	}
}
