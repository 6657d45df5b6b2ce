//go:build linux

package hsaabi

import (
	"bytes"
	"context"
	"fmt"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
)

// card is the agent of a card.
type card struct {
	sim   *simgpu.Runtime
	index int32
	props *hip.DevicePropR0600
	smi   *smi.Info
	isa   isa

	images bool // it has image instructions

	coherency coherency
}

func newCard(sim *simgpu.Runtime, source smi.Source, index int32) (*card, error) {
	c := &card{sim: sim, index: index}
	var e hip.Error
	if c.props, e = sim.GetDevicePropertiesR0600(index); e != hip.Success {
		return nil, fmt.Errorf("card %d: %s", index, e.Name())
	}
	images, e := sim.DeviceGetAttribute(hip.DeviceAttributeImageSupport, index)
	if c.images = images != 0; e != hip.Success {
		return nil, fmt.Errorf("card %d: %s", index, e.Name())
	}
	var err error
	if c.smi, err = source.Info(context.Background(), int(sim.CardOf(index))); err != nil {
		return nil, fmt.Errorf("card %d: %w", index, err)
	}
	c.isa = isa{c}
	c.coherency.set.Store(HSA_AMD_COHERENCY_TYPE_NONCOHERENT) // as AMD's library has it of the profile that cards are of
	return c, nil
}

// handle is the agent's.
func (c *card) handle() uint64 { return agentBase + 1 + uint64(c.index) }

// thread is what calls of the card are made as.
func (c *card) thread() hip.Thread { return hip.Thread{Device: c.index} }

// target is the architecture without its features.
func (c *card) target() string {
	name, _, _ := bytes.Cut(c.fullTarget(), []byte(":"))
	return string(name)
}

func (c *card) fullTarget() []byte {
	name, _, _ := bytes.Cut(c.props.GcnArchName[:], []byte{0})
	return name
}

// bdf is where the card sits: bus, device and function.
func (c *card) bdf() uint32 { return uint32(c.props.PciBusID)<<8 | uint32(c.props.PciDeviceID)<<3 }

func (c *card) info(attribute uint32, value unsafe.Pointer) status {
	p := c.props
	switch attribute {
	case HSA_AGENT_INFO_NAME:
		return putText(value, nameSize, c.target())
	case HSA_AGENT_INFO_VENDOR_NAME:
		return putText(value, nameSize, "AMD")
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		name, _, _ := bytes.Cut(p.Name[:], []byte{0})
		return putText(value, nameSize, string(name))
	case HSA_AGENT_INFO_FEATURE:
		return put[uint32](value, HSA_AGENT_FEATURE_KERNEL_DISPATCH)
	case HSA_AGENT_INFO_PROFILE:
		return put[uint32](value, HSA_PROFILE_BASE)
	case HSA_AGENT_INFO_FAST_F16_OPERATION, HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
		return put(value, true)
	case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
		return put(value, false)
	case HSA_AGENT_INFO_WAVEFRONT_SIZE:
		return put[uint32](value, waveSize)
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		return put(value, [3]uint16{groupMost, groupMost, groupMost})
	case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
		return put[uint32](value, groupMost)
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		return put(value, [3]uint32{^uint32(0), ^uint32(0), ^uint32(0)})
	case HSA_AGENT_INFO_GRID_MAX_SIZE:
		return put(value, ^uint32(0))
	case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
		return put[uint32](value, 32)
	case HSA_AGENT_INFO_QUEUES_MAX:
		return put[uint32](value, queuesMost)
	case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
		return put[uint32](value, queueMin)
	case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
		return put[uint32](value, queueMax)
	case HSA_AGENT_INFO_DEVICE:
		return put[uint32](value, HSA_DEVICE_TYPE_GPU)
	case HSA_AGENT_INFO_CACHE_SIZE:
		return put(value, c.cacheSizes())
	case HSA_AGENT_INFO_ISA:
		return put(value, c.isa.handle())
	case HSA_AGENT_INFO_EXTENSIONS:
		return put(value, extensions())
	case HSA_AGENT_INFO_NODE, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
		return put(value, uint32(c.index)+1)
	case HSA_AMD_AGENT_INFO_CHIP_ID:
		return put(value, c.smi.ASIC.DeviceID.Or(0))
	case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
		return put[uint32](value, cacheline)
	case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
		return put(value, uint32(p.MultiProcessorCount))
	case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
		return put(value, uint32(p.ClockRate/1000))
	case HSA_AMD_AGENT_INFO_BDFID:
		return put(value, c.bdf())
	case HSA_AMD_AGENT_INFO_DOMAIN:
		return put(value, uint32(p.PciDomainID))
	case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
		return put(value, uint32(p.MemoryBusWidth))
	case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
		return put(value, uint32(p.MemoryClockRate/1000))
	case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
		return put[uint32](value, wavesOfUnit)
	case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
		return put[uint32](value, simdsOfUnit)
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
		return put(value, c.engines())
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
		return put[uint32](value, 1)
	case HSA_AMD_AGENT_INFO_UUID:
		return putText(value, uuidSize, "GPU-"+string(p.Uuid.Bytes[:]))
	case HSA_AMD_AGENT_INFO_ASIC_REVISION:
		return put(value, uint32(p.AsicRevision))
	case HSA_AMD_AGENT_INFO_MEMORY_AVAIL:
		free, _, e := c.sim.MemGetInfo(c.thread())
		if e != hip.Success {
			return statusOf(e)
		}
		return put(value, free)
	case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
		kHz, e := c.sim.DeviceGetAttribute(hip.DeviceAttributeWallClockRate, c.index) // of the clock that kernels read
		if e != hip.Success {
			return statusOf(e)
		}
		return put(value, uint64(kHz)*1000)
	case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID:
		return put[uint32](value, familyAI)
	case HSA_AMD_AGENT_INFO_UCODE_VERSION, HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION:
		return put[uint32](value, 0) // it has no microcode
	case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG:
		return put[uint32](value, copyEngines)
	case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG:
		return put[uint32](value, 0)
	case HSA_AMD_AGENT_INFO_NUM_XCC:
		return put(value, c.dies())
	case HSA_AMD_AGENT_INFO_DRIVER_UID:
		return put(value, uint32(c.smi.IDs.KFD.Or(uint64(c.index)+1)))
	case HSA_AMD_AGENT_INFO_NEAREST_CPU:
		return put[uint64](value, agentBase)
	case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
		return put[uint64](value, 0)
	case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX, HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
		return put[uint64](value, 0)
	}
	return common(c.images, attribute, value)
}

const (
	familyAI    = 141 // of GFX9, as the kernel's driver numbers families
	copyEngines = 2
)

// dies is how many accelerator dies the card has.
func (c *card) dies() uint32 {
	for _, k := range c.smi.Caches {
		if k.Level == 2 {
			return uint32(k.Count.Or(1))
		}
	}
	return 1
}

// engines is the number of shader engines: eight on one die, four on each of several.
func (c *card) engines() uint32 {
	if n := c.dies(); n > 1 {
		return 4 * n
	}
	return 8
}
