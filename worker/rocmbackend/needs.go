package rocmbackend

import (
	"os"
	"path/filepath"

	"github.com/rocwire/rocwire/rocm"
	"github.com/rocwire/rocwire/worker/confine"
)

// needs is what AMD's library needs in a session process: itself and what it loads, the driver's devices, what the kernel tells of them,
// and the variables that it reads.
func needs(getenv func(string) string) confine.Needs {
	n := confine.Needs{
		Devices: []string{"/dev/kfd", "/dev/dri"},
		Read: []string{
			"/opt/rocm", "/opt/amdgpu", "/usr/share/libdrm", "/usr/share/hwdata", "/etc/OpenCL", "/etc/os-release", "/usr/lib/os-release",
			"/sys/class", "/sys/bus", "/sys/devices", "/sys/dev", "/sys/module/amdgpu", "/sys/kernel/mm",
			"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/filesystems",
		},
		Env: []string{
			"LD_LIBRARY_PATH", "ROCM_PATH", "ROCM_*", "HIP_*", "HSA_*", "ROCR_*", "AMD_*", "GPU_*", "DEBUG_*", "LOADER_*", "COMGR_*", "HIPRTC_*", "ROC_*",
			"ROCWIRE_SIM_ARCH", "ROCWIRE_SIM_CARDS", "PAL_*", "OCL_*", "CQ_*", "SET_*", "CUDA_VISIBLE_DEVICES",
		},
		Driver:  true,
		Scratch: true, // its compiler, which makes the kernels that copy and fill, hands files on
	}
	for _, path := range rocm.Paths() {
		if !filepath.IsAbs(path) {
			continue
		}
		// A path to it may be links, and what they lead to is what counts.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			n.Read = append(n.Read, filepath.Dir(real))
		}
		n.Read = append(n.Read, filepath.Dir(path))
	}
	for _, dir := range filepath.SplitList(getenv("LD_LIBRARY_PATH")) {
		if filepath.IsAbs(dir) && filepath.Dir(dir) != dir {
			n.Read = append(n.Read, dir)
			// rocwire's own HSA library, with the simulated card, is in a folder below what it jumps into.
			if lib := filepath.Join(filepath.Dir(dir), "librocwire.so"); exists(lib) {
				n.Read = append(n.Read, lib)
			}
		}
	}
	return n
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
