package provider

import (
	"math"
	"os"
	"strconv"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// TensorFusion finds a card's figures and the ways to divide it by the exact name that this
// library calls it: what our manifest says of each Instinct card is found, and right.
func TestManifestKnowsModels(t *testing.T) {
	b, err := os.ReadFile("../deploy/tensorfusion/providerconfig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Spec struct {
			HardwareMetadata []struct {
				Name   string   `yaml:"fullModelName"`
				TFLOPS string   `yaml:"fp16TFlops"`
				Most   int      `yaml:"maxPartitions"`
				Refs   []string `yaml:"partitionTemplateRefs"`
			} `yaml:"hardwareMetadata"`
			Templates []struct {
				ID      string `yaml:"id"`
				Percent string `yaml:"computePercent"`
				Memory  int    `yaml:"memoryGigabytes"`
				Most    int    `yaml:"maxInstances"`
			} `yaml:"virtualizationTemplates"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	known := map[string]int{}
	for i, h := range m.Spec.HardwareMetadata {
		known[h.Name] = i
	}
	// By device id: the names that drivers have for it, and the GiB that the data sheet says.
	for id, c := range map[uint32]struct {
		names []string
		gib   int
	}{
		0x738c: {[]string{"AMD Instinct MI100"}, 0}, 0x740f: {[]string{"AMD Instinct MI210"}, 0}, 0x740c: {[]string{"AMD Instinct MI250X / MI250"}, 0}, 0x7408: {[]string{"AMD Instinct MI250X"}, 0},
		0x74a0: {[]string{"AMD Instinct MI300A"}, 0},
		0x74a1: {[]string{"AMD Instinct MI300X OAM", "AMD Instinct MI300X", ""}, 192}, 0x74b5: {[]string{"AMD Instinct MI300X VF"}, 192},
		0x74a5: {[]string{"AMD Instinct MI325X OAM"}, 256}, 0x74b9: {[]string{"AMD Instinct MI325X VF"}, 256},
		0x75a0: {[]string{"AMD Instinct MI350X"}, 288}, 0x75b0: {[]string{"AMD Instinct MI350X VF"}, 288}, 0x75a3: {[]string{"AMD Instinct MI355X"}, 288}, 0x75b3: {[]string{"AMD Instinct MI355X VF"}, 288},
	} {
		for _, name := range c.names {
			in := &smi.Info{Device: smi.Device{Name: name}, ASIC: smi.ASIC{DeviceID: smi.Some(id)}}
			i, ok := known[tensorfusion.Model(in)]
			if !ok {
				t.Errorf("%#x %q is called %q, of which the manifest knows nothing", id, name, tensorfusion.Model(in))
				continue
			}
			h := m.Spec.HardwareMetadata[i]
			if v, err := strconv.ParseFloat(h.TFLOPS, 64); err != nil {
				t.Error(err)
			} else if want, _ := tensorfusion.TFLOPS(in, 0); math.Abs(v-want) > 0.1 {
				t.Errorf("%s: %v TFLOPS, the library says %v", h.Name, v, want)
			}
			if (c.gib > 0) != (len(h.Refs) == 3) {
				t.Errorf("%s: %v", h.Name, h.Refs)
			}
			for _, ref := range h.Refs {
				found := false
				for _, p := range m.Spec.Templates {
					if p.ID != ref {
						continue
					}
					found = true
					mode, _, ok := template(p.ID)
					percent, err := strconv.ParseFloat(p.Percent, 64)
					if !ok || rackModes[mode] != p.Most || p.Most > h.Most || err != nil || percent*float64(p.Most) != 100 || p.Memory*p.Most != c.gib {
						t.Errorf("%s: %+v of a card of %d GiB", h.Name, p, c.gib)
					}
				}
				if !found {
					t.Errorf("%s: there is no template %s", h.Name, ref)
				}
			}
		}
	}
}
