package sysfstest

import "encoding/binary"

// Table is a gpu_metrics table under construction: all ones, as the driver begins it.
type Table []byte

// NewTable is a table of a version, of so many bytes.
func NewTable(size int, format, content byte) Table {
	t := make(Table, size)
	for i := range t {
		t[i] = 0xff
	}
	binary.LittleEndian.PutUint16(t, uint16(size))
	t[2], t[3] = format, content
	return t
}

// U16 puts values of 16 bits beside each other, and so on.
func (t Table) U16(offset int, vs ...uint16) Table {
	for i, v := range vs {
		binary.LittleEndian.PutUint16(t[offset+2*i:], v)
	}
	return t
}

// U32 puts values of 32 bits.
func (t Table) U32(offset int, vs ...uint32) Table {
	for i, v := range vs {
		binary.LittleEndian.PutUint32(t[offset+4*i:], v)
	}
	return t
}

// U64 puts values of 64 bits.
func (t Table) U64(offset int, vs ...uint64) Table {
	for i, v := range vs {
		binary.LittleEndian.PutUint64(t[offset+8*i:], v)
	}
	return t
}

// tableMI300X is version 1.8, of 3872 bytes.
func tableMI300X() Table {
	t := NewTable(3872, 1, 8).
		U16(4, 47, 41, 52).          // hotspot, memory, VR of the SOC
		U16(10, 612, 87, 34).        // W, % of the engines, % of the memory controller
		U64(16, 5300).               // GB/s of memory
		U64(24, 15_000_000_000).     // energy
		U64(32, 123_456_789_000).    // ns
		U32(40, 1_000_000).          // cycles
		U32(44, 0, 50_000, 0, 0, 0). // prochot, power, socket, VR, HBM
		U32(64, 0).                  // locks
		U16(68, 16, 320).            // lanes, 0.1 GT/s
		U16(72, 16, 32).             // XGMI: lanes, Gbit/s
		U64(96, 12_800).             // Mbit/s
		U64(104, 3, 5, 1).           // recoveries, replays, rollovers
		U32(128, 2, 4).              // NAKs
		U64(288, 99)
	for i := range 8 {
		t.U64(136+8*i, uint64(1000+i)) // KiB read over each link
		t.U64(200+8*i, uint64(2000+i))
		t.U16(264+2*i, 1)
		t.U16(296+2*i, uint16(1900+i)) // MHz of each die
	}
	t.U16(312, 150, 151, 152, 153).U16(320, 50, 51, 52, 53).U16(328, 40, 41, 42, 43).U16(336, 1300).U16(338, 1)
	for i := range 8 { // the one partition's dies
		t.U32(344+4*i, uint32(80+i))
		t.U64(344+184+8*i, uint64(10_000*i)) // below the limit for power
		t.U64(344+248+8*i, 0)
		t.U64(344+312+8*i, 7)
		t.U64(344+376+8*i, uint64(10_000*i)) // below it for any cause
	}
	for i := range 40 {
		t.U16(344+32+2*i, 0)
	}
	t.U16(344+112, 11, 0, 0, 0)
	return t
}

// tableV1_3 is version 1.3, of 120 bytes.
func tableV1_3(edge, hotspot, mem, watts, busy, memBusy uint16) Table {
	return NewTable(120, 1, 3).
		U16(4, edge, hotspot, mem, 50, 51).
		U16(16, busy, memBusy, 3).
		U16(22, watts).U64(24, 6_553_600).U64(32, 1_000_000).
		U16(40, 1600, 1000, 1500).
		U16(54, 1650, 1010, 1600, 0, 0).
		U32(68, 0).
		U16(74, 16, 160).
		U64(96, 7).
		U16(104, 793, 812).
		U64(112, 1<<16)
}

// tableV2_3 is version 2.3, of 152 bytes: hundredths of a degree, milliwatts.
func tableV2_3() Table {
	return NewTable(152, 2, 3).
		U16(4, 4512, 4387).
		U16(28, 23, 0).
		U64(32, 5).
		U16(40, 9800).
		U16(76, 800, 600, 1000, 1200, 100, 110).
		U64(120, 0)
}

// tableV3_0 is version 3.0, of 264 bytes.
func tableV3_0() Table {
	return NewTable(264, 3, 0).
		U16(4, 5123, 5044).
		U16(42, 37, 2).
		U32(112, 15_250)
}
