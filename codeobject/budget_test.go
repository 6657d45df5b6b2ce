package codeobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
)

// crowded is a code object of about n bytes whose tables say again and again what is there once.
func crowded(n int, what string) []byte {
	const phdrs, table = 4096, 8192
	b := make([]byte, n)
	copy(b, elfMagic)
	b[4], b[5], b[6], b[7], b[elfABIOffset] = 2, 1, 1, osabiAMDGPUHSA, 3
	put16, put32, put64 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	put16(b[16:], etDyn)
	put16(b[18:], emAMDGPU)
	put32(b[elfFlagsOffset:], 0x54c) // gfx942
	put64(b[32:], elfHeaderSize)
	put16(b[54:], elfProgSize)
	count := 0
	prog := func(typ uint32, off, addr, size uint64) {
		p := b[elfHeaderSize+count*elfProgSize:]
		put32(p, typ)
		put64(p[8:], off)
		put64(p[16:], addr)
		put64(p[32:], size)
		put64(p[40:], size)
		count++
	}
	prog(ptLoad, 0, 0, uint64(n))
	switch what {
	case "names": // half of the object is one string, the other half symbols that have it as their name
		half := n / 2 / elfSymSize * elfSymSize
		dyn := b[phdrs:]
		for i, tag := range [][2]uint64{{dtStrTab, uint64(n - half/2)}, {dtStrSz, uint64(half / 2)}, {dtSymTab, table}, {dtHash, phdrs + 256}} {
			put64(dyn[16*i:], tag[0])
			put64(dyn[16*i+8:], tag[1])
		}
		prog(ptDynamic, phdrs, phdrs, 5*16)
		symbols := (half - table) / elfSymSize
		put32(b[phdrs+256+4:], uint32(symbols))
		for i := range symbols {
			put32(b[table+i*elfSymSize:], 1)
		}
		for i := n - half/2; i < n-1; i++ {
			b[i] = 'a'
		}
	case "notes": // the same note, in sixty program headers
		for range 60 {
			prog(ptNote, table, 0, uint64(n-table))
		}
		fallthrough
	case "arguments": // of one byte each
		prog(ptNote, table, 0, uint64(n-table))
		desc := table + 12 + 8
		put32(b[table:], uint32(len(noteOwner)))
		put32(b[table+4:], uint32(n-desc))
		put32(b[table+8:], ntAMDGPUMetadata)
		copy(b[table+12:], noteOwner)
		var m bytes.Buffer
		m.WriteString("\x81\xaeamdhsa.kernels\x91\x83\xa5.name\xa1k\xa7.symbol\xa1s\xa5.args\xdd")
		args := n - desc - m.Len() - 4
		_ = binary.Write(&m, binary.BigEndian, uint32(args))
		copy(b[desc:], m.Bytes())
		for i := n - args; i < n; i++ {
			b[i] = 0x80
		}
	}
	put16(b[56:], uint16(count))
	return b
}

// TestCrowded: an object that describes far more than it holds is refused before that is made.
func TestCrowded(t *testing.T) {
	for _, what := range []string{"names", "notes", "arguments"} {
		t.Run(what, func(t *testing.T) {
			image := crowded(1<<20, what)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Parse(image)
			runtime.ReadMemStats(&after)
			var invalid *Invalid
			if !errors.As(err, &invalid) || !bytes.Contains([]byte(err.Error()), []byte("describes more")) {
				t.Errorf("it says %v", err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%d MiB were taken for an object of 1 MiB", n>>20)
			}
		})
	}
}
