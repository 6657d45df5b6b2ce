package hipv1

// MemcpyRequest is the request of OpMemcpy and OpMemcpyAsync. Behind it: bytes data[size] when
// HAS_INLINE_DATA (H2D).
type MemcpyRequest struct {
	Dst    uint64
	Src    uint64
	Size   uint64
	Kind   int32
	Stream uint64
}

// Memcpy2DRequest is the request of OpMemcpy2D and OpMemcpy2DAsync. Behind it: bytes data[spitch*height] when
// HAS_INLINE_DATA (H2D).
type Memcpy2DRequest struct {
	Dst      uint64
	DstPitch uint64
	Src      uint64
	SrcPitch uint64
	Width    uint64
	Height   uint64
	Kind     int32
	_        uint32
	Stream   uint64
}

// Memcpy3DRequest is the request of OpMemcpy3D and OpMemcpy3DAsync.
type Memcpy3DRequest struct {
	SrcPtr     uint64
	SrcPitch   uint64
	SrcHeight  uint64
	SrcXOffset uint64
	SrcYOffset uint64
	SrcZOffset uint64
	DstPtr     uint64
	DstPitch   uint64
	DstHeight  uint64
	DstXOffset uint64
	DstYOffset uint64
	DstZOffset uint64
	Width      uint64
	Height     uint64
	Depth      uint64
	Kind       int32
	_          uint32
	Stream     uint64
}

// MemcpyPeerRequest is the request of OpMemcpyPeer and OpMemcpyPeerAsync.
type MemcpyPeerRequest struct {
	Dst       uint64
	DstDevice int32
	Src       uint64
	SrcDevice int32
	Size      uint64
	Stream    uint64
}

// MemcpyCachedRequest is the request of OpMemcpyHtoDCached. Behind it: bytes data[size] when HAS_INLINE_DATA.
type MemcpyCachedRequest struct {
	Hash   uint64
	Dst    uint64
	Size   uint64
	Stream uint64
}

// MemsetRequest is the request of OpMemset and OpMemsetAsync.
type MemsetRequest struct {
	Dst    uint64
	Value  int32
	Size   uint64
	Stream uint64
}
