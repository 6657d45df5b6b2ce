package exec

import "math"

// Cube maps.

// cube is the face of a cube map that a direction hits, with what the four
// instructions give.
func cube(a, b, c uint32) (id, major, sc, tc float32) {
	x, y, z := f32(a), f32(b), f32(c)
	ax, ay, az := math.Abs(float64(x)), math.Abs(float64(y)), math.Abs(float64(z))
	switch {
	case az >= ax && az >= ay:
		if z < 0 {
			return 5, 2 * z, -x, -y
		}
		return 4, 2 * z, x, -y
	case ay >= ax:
		if y < 0 {
			return 3, 2 * y, x, -z
		}
		return 2, 2 * y, x, z
	case x < 0:
		return 1, 2 * x, z, -y
	}
	return 0, 2 * x, -z, -y
}

var _ = define(func() {
	for name, pick := range map[string]func(id, major, sc, tc float32) float32{
		"id": func(id, _, _, _ float32) float32 { return id },
		"ma": func(_, major, _, _ float32) float32 { return major },
		"sc": func(_, _, sc, _ float32) float32 { return sc },
		"tc": func(_, _, _, tc float32) float32 { return tc },
	} {
		valu("v_cube"+name+"_f32", 3, each3(func(a, b, c uint32) uint32 { return b32(pick(cube(a, b, c))) })).fl = isF32
	}
})
