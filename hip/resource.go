package hip

// Flags of a DrvTextureDesc.
const (
	TRSFReadAsInteger         = 0x01
	TRSFNormalizedCoordinates = 0x02
	TRSFSRGB                  = 0x10
)

// The unions of the texture functions' structs, by what their types say.

// Array is the array of a resource that is one.
func (d *ResourceDesc) Array() Array { return Array(d.Res[0]) }

// Array is the array of a resource that is one.
func (d *DrvResourceDesc) Array() Array { return Array(d.Res[0]) }

// Linear is linear memory of size bytes.
func (d *DrvResourceDesc) Linear() (p Ptr, format ArrayFormat, channels uint32, size uint64) {
	return Ptr(d.Res[0]), ArrayFormat(uint32(d.Res[1])), uint32(d.Res[1] >> 32), d.Res[2]
}

// SetLinear makes d linear memory.
func (d *DrvResourceDesc) SetLinear(p Ptr, format ArrayFormat, channels uint32, size uint64) {
	d.ResType = DrvResourceTypeLinear
	d.Res = [16]uint64{uint64(p), uint64(uint32(format)) | uint64(channels)<<32, size}
}

// Pitch2D is a rectangle of width and height elements in rows of pitch bytes.
func (d *DrvResourceDesc) Pitch2D() (p Ptr, format ArrayFormat, channels uint32, width, height, pitch uint64) {
	return Ptr(d.Res[0]), ArrayFormat(uint32(d.Res[1])), uint32(d.Res[1] >> 32), d.Res[2], d.Res[3], d.Res[4]
}

// SetPitch2D makes d a rectangle.
func (d *DrvResourceDesc) SetPitch2D(p Ptr, format ArrayFormat, channels uint32, width, height, pitch uint64) {
	d.ResType = DrvResourceTypePitch2d
	d.Res = [16]uint64{uint64(p), uint64(uint32(format)) | uint64(channels)<<32, width, height, pitch}
}

// Linear is linear memory of size bytes.
func (d *ResourceDesc) Linear() (p Ptr, f ChannelFormatDesc, size uint64) {
	return Ptr(d.Res[0]), channels(d.Res[1:4]), d.Res[4]
}

// Pitch2D is a rectangle of width and height elements in rows of pitch bytes.
func (d *ResourceDesc) Pitch2D() (p Ptr, f ChannelFormatDesc, width, height, pitch uint64) {
	return Ptr(d.Res[0]), channels(d.Res[1:4]), d.Res[4], d.Res[5], d.Res[6]
}

func channels(w []uint64) ChannelFormatDesc {
	return ChannelFormatDesc{X: int32(w[0]), Y: int32(w[0] >> 32), Z: int32(w[1]), W: int32(w[1] >> 32), F: ChannelFormatKind(w[2])}
}

// Elements is the format that a view gives an array's elements; false for none.
func (v *DrvResourceViewDesc) Elements() (f ArrayFormat, channels uint32, ok bool) {
	n := int(v.Format) - 1
	kinds := [...]ArrayFormat{DrvAdFormatUnsignedInt8, DrvAdFormatSignedInt8, DrvAdFormatUnsignedInt16, DrvAdFormatSignedInt16,
		DrvAdFormatUnsignedInt32, DrvAdFormatSignedInt32, DrvAdFormatHalf, DrvAdFormatFloat}
	if n < 0 || n >= 3*len(kinds) {
		return 0, 0, false
	}
	return kinds[n/3], [3]uint32{1, 2, 4}[n%3], true
}

// Size is the number of bytes of a component, 0 if there is no such format.
func (f ArrayFormat) Size() uint64 {
	switch f {
	case DrvAdFormatUnsignedInt8, DrvAdFormatSignedInt8:
		return 1
	case DrvAdFormatUnsignedInt16, DrvAdFormatSignedInt16, DrvAdFormatHalf:
		return 2
	case DrvAdFormatUnsignedInt32, DrvAdFormatSignedInt32, DrvAdFormatFloat:
		return 4
	}
	return 0
}

// ElementSize is the number of bytes of an array's element, at least 1.
func (d *DrvArray3dDescriptor) ElementSize() uint64 {
	return max(1, d.Format.Size()*uint64(d.NumChannels))
}

// SetLinear makes d linear memory.
func (d *ResourceDesc) SetLinear(p Ptr, f ChannelFormatDesc, size uint64) {
	*d = ResourceDesc{ResType: ResourceTypeLinear, Res: [7]uint64{0: uint64(p), 4: size}}
	putChannels(d.Res[1:4], f)
}

// SetPitch2D makes d a rectangle.
func (d *ResourceDesc) SetPitch2D(p Ptr, f ChannelFormatDesc, width, height, pitch uint64) {
	*d = ResourceDesc{ResType: ResourceTypePitch2D, Res: [7]uint64{0: uint64(p), 4: width, 5: height, 6: pitch}}
	putChannels(d.Res[1:4], f)
}

func putChannels(w []uint64, f ChannelFormatDesc) {
	w[0] = uint64(uint32(f.X)) | uint64(uint32(f.Y))<<32
	w[1] = uint64(uint32(f.Z)) | uint64(uint32(f.W))<<32
	w[2] = uint64(uint32(f.F))
}
