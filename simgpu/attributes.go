package simgpu

import "github.com/rocwire/rocwire/hip"

// attribute answers hipDeviceGetAttribute from the properties, so that the two
// always agree; false for what is no attribute.
func (p *product) attribute(d *hip.DevicePropR0600, a hip.DeviceAttribute) (int32, bool) {
	if get, ok := attributes[a]; ok {
		return get(d), true
	}
	switch a {
	case hip.DeviceAttributePhysicalMultiProcessorCount:
		return p.computeUnits, true
	case hip.DeviceAttributeWallClockRate:
		return wallClockKHz, true
	case hip.DeviceAttributeFineGrainSupport, hip.DeviceAttributeCanUseStreamWaitValue, hip.DeviceAttributeVirtualMemoryManagementSupported:
		return 1, true
	case hip.DeviceAttributeImageSupport:
		if p.images {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// saturate is n as an attribute, which is an int.
func saturate(n uint64) int32 { return int32(min(n, 1<<31-1)) }

var attributes = map[hip.DeviceAttribute]func(d *props) int32{
	hip.DeviceAttributeEccEnabled:                             func(d *props) int32 { return d.ECCEnabled },
	hip.DeviceAttributeAccessPolicyMaxWindowSize:              func(d *props) int32 { return d.AccessPolicyMaxWindowSize },
	hip.DeviceAttributeAsyncEngineCount:                       func(d *props) int32 { return d.AsyncEngineCount },
	hip.DeviceAttributeCanMapHostMemory:                       func(d *props) int32 { return d.CanMapHostMemory },
	hip.DeviceAttributeCanUseHostPointerForRegisteredMem:      func(d *props) int32 { return d.CanUseHostPointerForRegisteredMem },
	hip.DeviceAttributeClockRate:                              func(d *props) int32 { return d.ClockRate },
	hip.DeviceAttributeComputeMode:                            func(d *props) int32 { return d.ComputeMode },
	hip.DeviceAttributeComputePreemptionSupported:             func(d *props) int32 { return d.ComputePreemptionSupported },
	hip.DeviceAttributeConcurrentKernels:                      func(d *props) int32 { return d.ConcurrentKernels },
	hip.DeviceAttributeConcurrentManagedAccess:                func(d *props) int32 { return d.ConcurrentManagedAccess },
	hip.DeviceAttributeCooperativeLaunch:                      func(d *props) int32 { return d.CooperativeLaunch },
	hip.DeviceAttributeCooperativeMultiDeviceLaunch:           func(d *props) int32 { return d.CooperativeMultiDeviceLaunch },
	hip.DeviceAttributeDeviceOverlap:                          func(d *props) int32 { return d.DeviceOverlap },
	hip.DeviceAttributeDirectManagedMemAccessFromHost:         func(d *props) int32 { return d.DirectManagedMemAccessFromHost },
	hip.DeviceAttributeGlobalL1CacheSupported:                 func(d *props) int32 { return d.GlobalL1CacheSupported },
	hip.DeviceAttributeHostNativeAtomicSupported:              func(d *props) int32 { return d.HostNativeAtomicSupported },
	hip.DeviceAttributeIntegrated:                             func(d *props) int32 { return d.Integrated },
	hip.DeviceAttributeIsMultiGpuBoard:                        func(d *props) int32 { return d.IsMultiGpuBoard },
	hip.DeviceAttributeKernelExecTimeout:                      func(d *props) int32 { return d.KernelExecTimeoutEnabled },
	hip.DeviceAttributeL2CacheSize:                            func(d *props) int32 { return d.L2CacheSize },
	hip.DeviceAttributeLocalL1CacheSupported:                  func(d *props) int32 { return d.LocalL1CacheSupported },
	hip.DeviceAttributeLuidDeviceNodeMask:                     func(d *props) int32 { return int32(d.LuidDeviceNodeMask) },
	hip.DeviceAttributeComputeCapabilityMajor:                 func(d *props) int32 { return d.Major },
	hip.DeviceAttributeManagedMemory:                          func(d *props) int32 { return d.ManagedMemory },
	hip.DeviceAttributeMaxBlocksPerMultiProcessor:             func(d *props) int32 { return d.MaxBlocksPerMultiProcessor },
	hip.DeviceAttributeMaxBlockDimX:                           func(d *props) int32 { return d.MaxThreadsDim[0] },
	hip.DeviceAttributeMaxBlockDimY:                           func(d *props) int32 { return d.MaxThreadsDim[1] },
	hip.DeviceAttributeMaxBlockDimZ:                           func(d *props) int32 { return d.MaxThreadsDim[2] },
	hip.DeviceAttributeMaxGridDimX:                            func(d *props) int32 { return d.MaxGridSize[0] },
	hip.DeviceAttributeMaxGridDimY:                            func(d *props) int32 { return d.MaxGridSize[1] },
	hip.DeviceAttributeMaxGridDimZ:                            func(d *props) int32 { return d.MaxGridSize[2] },
	hip.DeviceAttributeMaxSurface1D:                           func(d *props) int32 { return d.MaxSurface1D },
	hip.DeviceAttributeMaxSurface1DLayered:                    func(d *props) int32 { return d.MaxSurface1DLayered[0] },
	hip.DeviceAttributeMaxSurface2D:                           func(d *props) int32 { return d.MaxSurface2D[0] },
	hip.DeviceAttributeMaxSurface2DLayered:                    func(d *props) int32 { return d.MaxSurface2DLayered[0] },
	hip.DeviceAttributeMaxSurface3D:                           func(d *props) int32 { return d.MaxSurface3D[0] },
	hip.DeviceAttributeMaxSurfaceCubemap:                      func(d *props) int32 { return d.MaxSurfaceCubemap },
	hip.DeviceAttributeMaxSurfaceCubemapLayered:               func(d *props) int32 { return d.MaxSurfaceCubemapLayered[0] },
	hip.DeviceAttributeMaxTexture1DWidth:                      func(d *props) int32 { return d.MaxTexture1D },
	hip.DeviceAttributeMaxTexture1DLayered:                    func(d *props) int32 { return d.MaxTexture1DLayered[0] },
	hip.DeviceAttributeMaxTexture1DLinear:                     func(d *props) int32 { return d.MaxTexture1DLinear },
	hip.DeviceAttributeMaxTexture1DMipmap:                     func(d *props) int32 { return d.MaxTexture1DMipmap },
	hip.DeviceAttributeMaxTexture2DWidth:                      func(d *props) int32 { return d.MaxTexture2D[0] },
	hip.DeviceAttributeMaxTexture2DHeight:                     func(d *props) int32 { return d.MaxTexture2D[1] },
	hip.DeviceAttributeMaxTexture2DGather:                     func(d *props) int32 { return d.MaxTexture2DGather[0] },
	hip.DeviceAttributeMaxTexture2DLayered:                    func(d *props) int32 { return d.MaxTexture2DLayered[0] },
	hip.DeviceAttributeMaxTexture2DLinear:                     func(d *props) int32 { return d.MaxTexture2DLinear[0] },
	hip.DeviceAttributeMaxTexture2DMipmap:                     func(d *props) int32 { return d.MaxTexture2DMipmap[0] },
	hip.DeviceAttributeMaxTexture3DWidth:                      func(d *props) int32 { return d.MaxTexture3D[0] },
	hip.DeviceAttributeMaxTexture3DHeight:                     func(d *props) int32 { return d.MaxTexture3D[1] },
	hip.DeviceAttributeMaxTexture3DDepth:                      func(d *props) int32 { return d.MaxTexture3D[2] },
	hip.DeviceAttributeMaxTexture3DAlt:                        func(d *props) int32 { return d.MaxTexture3DAlt[0] },
	hip.DeviceAttributeMaxTextureCubemap:                      func(d *props) int32 { return d.MaxTextureCubemap },
	hip.DeviceAttributeMaxTextureCubemapLayered:               func(d *props) int32 { return d.MaxTextureCubemapLayered[0] },
	hip.DeviceAttributeMaxThreadsDim:                          func(d *props) int32 { return d.MaxThreadsDim[0] },
	hip.DeviceAttributeMaxThreadsPerBlock:                     func(d *props) int32 { return d.MaxThreadsPerBlock },
	hip.DeviceAttributeMaxThreadsPerMultiProcessor:            func(d *props) int32 { return d.MaxThreadsPerMultiProcessor },
	hip.DeviceAttributeMaxPitch:                               func(d *props) int32 { return saturate(d.MemPitch) },
	hip.DeviceAttributeMemoryBusWidth:                         func(d *props) int32 { return d.MemoryBusWidth },
	hip.DeviceAttributeMemoryClockRate:                        func(d *props) int32 { return d.MemoryClockRate },
	hip.DeviceAttributeComputeCapabilityMinor:                 func(d *props) int32 { return d.Minor },
	hip.DeviceAttributeMultiGpuBoardGroupID:                   func(d *props) int32 { return d.MultiGpuBoardGroupID },
	hip.DeviceAttributeMultiprocessorCount:                    func(d *props) int32 { return d.MultiProcessorCount },
	hip.DeviceAttributePageableMemoryAccess:                   func(d *props) int32 { return d.PageableMemoryAccess },
	hip.DeviceAttributePageableMemoryAccessUsesHostPageTables: func(d *props) int32 { return d.PageableMemoryAccessUsesHostPageTables },
	hip.DeviceAttributePciBusId:                               func(d *props) int32 { return d.PciBusID },
	hip.DeviceAttributePciDeviceId:                            func(d *props) int32 { return d.PciDeviceID },
	hip.DeviceAttributePciDomainID:                            func(d *props) int32 { return d.PciDomainID },
	hip.DeviceAttributePersistingL2CacheMaxSize:               func(d *props) int32 { return d.PersistingL2CacheMaxSize },
	hip.DeviceAttributeMaxRegistersPerBlock:                   func(d *props) int32 { return d.RegsPerBlock },
	hip.DeviceAttributeMaxRegistersPerMultiprocessor:          func(d *props) int32 { return d.RegsPerMultiprocessor },
	hip.DeviceAttributeReservedSharedMemPerBlock:              func(d *props) int32 { return saturate(d.ReservedSharedMemPerBlock) },
	hip.DeviceAttributeMaxSharedMemoryPerBlock:                func(d *props) int32 { return saturate(d.SharedMemPerBlock) },
	hip.DeviceAttributeSharedMemPerBlockOptin:                 func(d *props) int32 { return saturate(d.SharedMemPerBlockOptin) },
	hip.DeviceAttributeSharedMemPerMultiprocessor:             func(d *props) int32 { return saturate(d.SharedMemPerMultiprocessor) },
	hip.DeviceAttributeSingleToDoublePrecisionPerfRatio:       func(d *props) int32 { return d.SingleToDoublePrecisionPerfRatio },
	hip.DeviceAttributeStreamPrioritiesSupported:              func(d *props) int32 { return d.StreamPrioritiesSupported },
	hip.DeviceAttributeSurfaceAlignment:                       func(d *props) int32 { return saturate(d.SurfaceAlignment) },
	hip.DeviceAttributeTccDriver:                              func(d *props) int32 { return d.TccDriver },
	hip.DeviceAttributeTextureAlignment:                       func(d *props) int32 { return saturate(d.TextureAlignment) },
	hip.DeviceAttributeTexturePitchAlignment:                  func(d *props) int32 { return saturate(d.TexturePitchAlignment) },
	hip.DeviceAttributeTotalConstantMemory:                    func(d *props) int32 { return saturate(d.TotalConstMem) },
	hip.DeviceAttributeTotalGlobalMem:                         func(d *props) int32 { return saturate(d.TotalGlobalMem) },
	hip.DeviceAttributeUnifiedAddressing:                      func(d *props) int32 { return d.UnifiedAddressing },
	hip.DeviceAttributeWarpSize:                               func(d *props) int32 { return d.WarpSize },
	hip.DeviceAttributeMemoryPoolsSupported:                   func(d *props) int32 { return d.MemoryPoolsSupported },
	hip.DeviceAttributeHostRegisterSupported:                  func(d *props) int32 { return d.HostRegisterSupported },
	hip.DeviceAttributeMemoryPoolSupportedHandleTypes:         func(d *props) int32 { return int32(d.MemoryPoolSupportedHandleTypes) },

	hip.DeviceAttributeClockInstructionRate:                     func(d *props) int32 { return d.ClockInstructionRate },
	hip.DeviceAttributeMaxSharedMemoryPerMultiprocessor:         func(d *props) int32 { return saturate(d.MaxSharedMemoryPerMultiProcessor) },
	hip.DeviceAttributeCooperativeMultiDeviceUnmatchedFunc:      func(d *props) int32 { return d.CooperativeMultiDeviceUnmatchedFunc },
	hip.DeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:   func(d *props) int32 { return d.CooperativeMultiDeviceUnmatchedGridDim },
	hip.DeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:  func(d *props) int32 { return d.CooperativeMultiDeviceUnmatchedBlockDim },
	hip.DeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem: func(d *props) int32 { return d.CooperativeMultiDeviceUnmatchedSharedMem },
	hip.DeviceAttributeHdpMemFlushCntl:                          func(d *props) int32 { return int32(d.HdpMemFlushCntl) }, // null
	hip.DeviceAttributeHdpRegFlushCntl:                          func(d *props) int32 { return int32(d.HdpRegFlushCntl) },
	hip.DeviceAttributeIsLargeBar:                               func(d *props) int32 { return d.IsLargeBar },
	hip.DeviceAttributeAsicRevision:                             func(d *props) int32 { return d.AsicRevision },
}

type props = hip.DevicePropR0600
