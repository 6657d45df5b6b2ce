package hipv1

// VersionReply is the reply to OpRuntimeGetVersion and OpDriverGetVersion.
type VersionReply struct {
	Version int32
}

// OccupancyMaxPotentialBlockSizeRequest is the request of OpOccupancyMaxPotentialBlockSize.
type OccupancyMaxPotentialBlockSizeRequest struct {
	Function       uint64
	DynSharedMem   uint64
	BlockSizeLimit int32
	Flags          uint32
}

// OccupancyMaxPotentialBlockSizeReply is the reply to OpOccupancyMaxPotentialBlockSize.
type OccupancyMaxPotentialBlockSizeReply struct {
	MinGridSize int32
	BlockSize   int32
}

// OccupancyMaxActiveBlocksPerSMRequest is the request of OpOccupancyMaxActiveBlocksPerSM.
type OccupancyMaxActiveBlocksPerSMRequest struct {
	Function     uint64
	BlockSize    int32
	DynSharedMem uint64
}

// OccupancyMaxActiveBlocksPerSMReply is the reply to OpOccupancyMaxActiveBlocksPerSM.
type OccupancyMaxActiveBlocksPerSMReply struct {
	NumBlocks int32
}
