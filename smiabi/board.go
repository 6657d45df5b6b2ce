package smiabi

// texts writes texts into arrays, and says NOT_SUPPORTED if all of them are empty.
func texts(pairs ...field) status {
	st := AMDSMI_STATUS_NOT_SUPPORTED
	for _, p := range pairs {
		putText(p.dst, p.text)
		if p.text != "" {
			st = AMDSMI_STATUS_SUCCESS
		}
	}
	return st
}

// field is an array and the text that goes into it.
type field struct {
	dst  []byte
	text string
}

// amdsmiGetGPUBoardInfo is what the chip is mounted on.
func amdsmiGetGPUBoardInfo(c card, info *boardInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = boardInfo{}
	return texts(
		field{info.modelNumber[:], i.Board.Model}, field{info.productSerial[:], i.Board.Serial}, field{info.fruID[:], i.Board.FRU},
		field{info.productName[:], i.Board.Product}, field{info.manufacturerName[:], i.Board.Manufacturer},
	)
}

// amdsmiGetGPUVBIOSInfo is the card's boot firmware.
func amdsmiGetGPUVBIOSInfo(c card, info *vbiosInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = vbiosInfo{}
	return texts(
		field{info.name[:], i.VBIOS.Name}, field{info.buildDate[:], i.VBIOS.Date}, field{info.partNumber[:], i.VBIOS.PartNumber},
		field{info.version[:], i.VBIOS.Version}, field{info.bootFirmware[:], i.VBIOS.Boot},
	)
}

// amdsmiGetGPUDriverInfo is the software that drives the card.
func amdsmiGetGPUDriverInfo(c card, info *driverInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = driverInfo{}
	return texts(
		field{info.driverVersion[:], i.Driver.Version}, field{info.driverDate[:], i.Driver.Date}, field{info.driverName[:], i.Driver.Name},
	)
}
