//go:build linux

package hsaabi

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// processor is the agent of this machine's CPUs: it executes no kernels, and has the machine's memory.
type processor struct{ l *library }

// cpuModel is what the kernel calls the processor, and its clock in MHz.
var cpuModel = sync.OnceValues(func() (name string, clock uint32) {
	name = runtime.GOARCH
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "model name":
			name = value
		case "cpu MHz":
			mhz, _ := strconv.ParseFloat(value, 64)
			clock = max(clock, uint32(mhz))
		case "":
			return name, clock
		}
	}
	return name, clock
})

func (processor) info(attribute uint32, value unsafe.Pointer) status {
	name, clock := cpuModel()
	switch attribute {
	case HSA_AGENT_INFO_NAME, HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		return putText(value, nameSize, name)
	case HSA_AGENT_INFO_VENDOR_NAME:
		return putText(value, nameSize, "CPU")
	case HSA_AGENT_INFO_PROFILE:
		return put[uint32](value, HSA_PROFILE_FULL)
	case HSA_AGENT_INFO_FAST_F16_OPERATION:
		return put(value, false)
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		return put(value, [3]uint16{})
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		return put(value, [3]uint32{})
	case HSA_AGENT_INFO_DEVICE:
		return put[uint32](value, HSA_DEVICE_TYPE_CPU)
	case HSA_AGENT_INFO_CACHE_SIZE:
		return put(value, [4]uint32{})
	case HSA_AGENT_INFO_ISA, HSA_AMD_AGENT_INFO_NEAREST_CPU, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
		return put[uint64](value, 0)
	case HSA_AGENT_INFO_EXTENSIONS:
		return put(value, [bitmapSize]byte{})
	case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
		return put[uint32](value, 64)
	case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
		return put(value, uint32(runtime.NumCPU()))
	case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
		return put(value, clock)
	case HSA_AMD_AGENT_INFO_UUID:
		return putText(value, len("CPU-XX")+1, "CPU-XX")
	case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
		return put(value, true)
	case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
		return put[uint64](value, 1e9)
	case HSA_AGENT_INFO_FEATURE, HSA_AGENT_INFO_WAVEFRONT_SIZE, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, HSA_AGENT_INFO_GRID_MAX_SIZE,
		HSA_AGENT_INFO_FBARRIER_MAX_SIZE, HSA_AGENT_INFO_QUEUES_MAX, HSA_AGENT_INFO_QUEUE_MIN_SIZE, HSA_AGENT_INFO_QUEUE_MAX_SIZE,
		HSA_AGENT_INFO_NODE, HSA_AMD_AGENT_INFO_CHIP_ID, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, HSA_AMD_AGENT_INFO_BDFID,
		HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
		HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, HSA_AMD_AGENT_INFO_DOMAIN, HSA_AMD_AGENT_INFO_ASIC_REVISION,
		HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID, HSA_AMD_AGENT_INFO_UCODE_VERSION, HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION,
		HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, HSA_AMD_AGENT_INFO_NUM_XCC, HSA_AMD_AGENT_INFO_DRIVER_UID:
		return put[uint32](value, 0)
	}
	return common(false, attribute, value)
}

func (processor) caches() []cache { return nil }
