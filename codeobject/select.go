package codeobject

// Select returns the code object (a bare ELF file) of an image that suits a
// device best: the processor's own before a generic target's, and the one that
// fixes more features, as the device has them, before the one that fixes
// fewer. It is a part of image unless the image is compressed. A bare ELF
// image is returned itself if it suits.
//
// Errors: *NoBinaryForGPU if nothing suits, *Invalid for malformed input.
func Select(image []byte, device Target) ([]byte, error) {
	entries, err := Entries(image)
	if err != nil {
		return nil, err
	}
	var best []byte
	bestRank := 0
	for i := range entries {
		e := &entries[i]
		if !e.Device() || len(e.Data) == 0 {
			continue
		}
		if rank := e.Target.match(device); rank > bestRank {
			best, bestRank = e.Data, rank
		}
	}
	if best == nil {
		missing := &NoBinaryForGPU{Wanted: device.Short()}
		for i := range entries {
			if len(entries[i].Data) > 0 || entries[i].Device() {
				missing.Have = append(missing.Have, entries[i].name())
			}
		}
		return nil, missing
	}
	return best, nil
}
