package collector

import "github.com/rocwire/rocwire/smi"

func init() { register("firmware", func(*Options) collector { return firmwareCollector{} }) }

var firmwareInfo = define(gauge, "gpu_firmware_info", "Version of one piece of firmware the GPU runs.", "gpu", "firmware", "version")

// firmwareCollector tells what software the cards run themselves.
type firmwareCollector struct{}

func (firmwareCollector) update(v *View, emit *emitter) error {
	return eachDetail(v, emit, "firmware", func(c *Card) *Answer[[]smi.Firmware] { return &c.Firmware }, func(gpu string, list []smi.Firmware) {
		for _, f := range list {
			emit.info(firmwareInfo, gpu, f.Name, f.Version)
		}
	})
}
