package hiptest

import (
	"fmt"

	"github.com/rocwire/rocwire/hip"
)

// grid is the array that a piece lies in: its floats in rows of gridWidth, the rows in slices.
type grid struct {
	array        hip.Array
	rows, slices int
}

const gridWidth = 64

// addArray makes a piece that is an array, where a device has such.
func (s *sequence) addArray(th hip.Thread, st *line) {
	s.e.Helper()
	if v, err := s.e.DeviceGetAttribute(hip.DeviceAttributeImageSupport, th.Device); err != hip.Success || v == 0 {
		s.ok("DeviceGetAttribute", err)
		return
	}
	g := &grid{rows: 1 + s.r.IntN(20), slices: 1 + s.r.IntN(4)}
	desc := hip.DrvArray3dDescriptor{Width: gridWidth, Height: uint64(g.rows), Format: hip.DrvAdFormatFloat, NumChannels: 1}
	if g.slices > 1 {
		desc.Depth = uint64(g.slices)
	}
	var err hip.Error
	g.array, err = s.e.Array3DCreate(th, &desc)
	s.ok("Array3DCreate", err)
	p := &piece{name: fmt.Sprintf("array %d", len(s.pieces)), device: th.Device, home: true, grid: g, want: make([]float32, gridWidth*g.rows*g.slices), owner: st}
	h := s.e.host(4 * len(p.want))
	copy(h, s.values(p.want))
	s.ok("DrvMemcpy3DAsync", s.e.DrvMemcpy3DAsync(st.th, box(g.volume(), 0, 0, 0, g.closely(h), 0, 0, 0, 4*gridWidth, uint64(g.rows), uint64(g.slices)), st.stream))
	s.pieces = append(s.pieces, p)
}

func (g *grid) volume() volume { return volume{kind: hip.MemoryTypeArray, array: g.array} }

// closely is memory of the program's that holds what the array does.
func (g *grid) closely(h []byte) volume {
	return volume{hip.MemoryTypeHost, ptr(h), 0, 4 * gridWidth, uint64(g.rows)}
}

// read is what a piece holds.
func (s *sequence) read(p *piece) []byte {
	s.e.Helper()
	th := hip.Thread{Device: max(p.device, 0), ID: s.e.th.ID}
	h, g := s.e.host(4*len(p.want)), p.grid
	if g == nil {
		s.ok("Memcpy", s.e.Memcpy(th, ptr(h), p.at, uint64(len(h)), hip.MemcpyDeviceToHost))
		return h
	}
	s.ok("DrvMemcpy3D", s.e.DrvMemcpy3D(th, box(g.closely(h), 0, 0, 0, g.volume(), 0, 0, 0, 4*gridWidth, uint64(g.rows), uint64(g.slices))))
	return h
}

// corner is where a box of floats lies in a piece.
type corner struct {
	in      volume
	x, y, z int                    // in floats, rows and slices
	row     func(y, z int) (i int) // where a row of the box begins, in the piece's floats
}

// corner makes one up; false if there is no room in the piece.
func (s *sequence) corner(p *piece, width, rows, slices int) (c corner, ok bool) {
	if g := p.grid; g != nil {
		if rows > g.rows || slices > g.slices {
			return c, false
		}
		x, y, z := s.r.IntN(gridWidth-width+1), s.r.IntN(g.rows-rows+1), s.r.IntN(g.slices-slices+1)
		return corner{g.volume(), x, y, z, func(i, k int) int { return ((z+k)*g.rows+y+i)*gridWidth + x }}, true
	}
	pitch, height := width+s.r.IntN(8), rows+s.r.IntN(3)
	n := (height*(slices-1)+rows-1)*pitch + width
	if n > len(p.want) {
		return c, false
	}
	first := s.r.IntN(len(p.want) - n + 1)
	return corner{volume{p.memoryType(), p.at + hip.Ptr(4*first), 0, uint64(4 * pitch), uint64(height)}, 0, 0, 0, func(i, k int) int { return first + (k*height+i)*pitch }}, true
}

// copyArray makes p a copy of a box, of which at least one side is an array.
func (s *sequence) copyArray(p planned) (planned, bool) {
	if p.a == p.b {
		return p, false
	}
	for {
		width, rows, slices := 1+s.r.IntN(gridWidth), 1+s.r.IntN(20), 1+s.r.IntN(4)
		from, ok := s.corner(p.a, width, rows, slices)
		to, ok2 := s.corner(p.b, width, rows, slices)
		if !ok || !ok2 {
			continue
		}
		d := box(to.in, uint64(4*to.x), uint64(to.y), uint64(to.z), from.in, uint64(4*from.x), uint64(from.y), uint64(from.z), uint64(4*width), uint64(rows), uint64(slices))
		p.say = fmt.Sprintf("%s+%d = %s+%d, a box of %d by %d by %d", p.b.name, to.row(0, 0), p.a.name, from.row(0, 0), width, rows, slices)
		s.copiesBox(&p, d)
		p.do = func() {
			for k := range slices {
				for i := range rows {
					copy(p.b.want[to.row(i, k):][:width], p.a.want[from.row(i, k):])
				}
			}
		}
		return p, true
	}
}
