package hip

// BoxSide is one side of a DrvMEMCPY3D: where in a volume or an array the box begins.
type BoxSide struct {
	XInBytes, Y, Z uint64
	LOD            uint64
	MemoryType     MemoryType
	Host, Device   Ptr
	Array          Array
	Pitch, Height  uint64 // bytes of a row, rows of a slice; 0: the box's own. Of memory, not of an array
}

// Src is the side that the box is read from.
func (p *DrvMEMCPY3D) Src() BoxSide {
	return BoxSide{p.SrcXInBytes, p.SrcY, p.SrcZ, p.SrcLOD, p.SrcMemoryType, p.SrcHost, p.SrcDevice, p.SrcArray, p.SrcPitch, p.SrcHeight}
}

// Dst is the side that the box is written to.
func (p *DrvMEMCPY3D) Dst() BoxSide {
	return BoxSide{p.DstXInBytes, p.DstY, p.DstZ, p.DstLOD, p.DstMemoryType, p.DstHost, p.DstDevice, p.DstArray, p.DstPitch, p.DstHeight}
}

// SetSrc makes s the side that the box is read from.
func (p *DrvMEMCPY3D) SetSrc(s BoxSide) {
	p.SrcXInBytes, p.SrcY, p.SrcZ, p.SrcLOD = s.XInBytes, s.Y, s.Z, s.LOD
	p.SrcMemoryType, p.SrcHost, p.SrcDevice, p.SrcArray, p.SrcPitch, p.SrcHeight = s.MemoryType, s.Host, s.Device, s.Array, s.Pitch, s.Height
}

// SetDst makes s the side that the box is written to.
func (p *DrvMEMCPY3D) SetDst(s BoxSide) {
	p.DstXInBytes, p.DstY, p.DstZ, p.DstLOD = s.XInBytes, s.Y, s.Z, s.LOD
	p.DstMemoryType, p.DstHost, p.DstDevice, p.DstArray, p.DstPitch, p.DstHeight = s.MemoryType, s.Host, s.Device, s.Array, s.Pitch, s.Height
}

// Ptr is the address of the side's volume: Host or Device, by its type.
func (s *BoxSide) Ptr() Ptr {
	if s.MemoryType == MemoryTypeHost {
		return s.Host
	}
	return s.Device
}
