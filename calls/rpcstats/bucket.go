package rpcstats

import (
	"math"
	"time"
)

// Schema is the resolution: 2^Schema buckets for each factor of two.
const Schema = 3

// Buckets outside the range are never recorded: shorter durations than a
// nanosecond do not exist, longer ones than MaxBucket's bound (68 minutes) count
// there.
const (
	MinBucket  = -239 // holds 1 ns
	MaxBucket  = 96   // bound 4096 s
	NumBuckets = MaxBucket - MinBucket + 1
)

const perOctave = 1 << Schema

// bounds are the mantissa fields, ascending, of the eight bucket bounds that lie
// between two powers of two when they are given in nanoseconds: 1e9·2^(i/8) with
// i = 8·(e-30)+1 … 8·(e-30)+8 lies in [2^e, 2^(e+1)). Comparing in nanoseconds
// needs no division.
var bounds [perOctave]uint64

// firstGuess maps a mantissa's top byte to the number of bounds below every value
// with that byte. One byte's range holds at most one bound, so a single comparison
// completes it.
var firstGuess [256]uint8

const mantissa = 1<<52 - 1

func init() {
	for k := range bounds {
		bounds[k] = math.Float64bits(1e9*math.Exp2(float64(k+1)/perOctave)) & mantissa
	}
	for top := range firstGuess {
		n := 0
		for n < perOctave && bounds[n] < uint64(top)<<44 {
			n++
		}
		firstGuess[top] = uint8(n)
	}
}

// BucketOf is the bucket that holds d; ok is false for d ≤ 0, which belongs to the
// zero bucket.
func BucketOf(d time.Duration) (bucket int, ok bool) {
	if d <= 0 {
		return 0, false
	}
	bits := math.Float64bits(float64(d))
	mant := bits & mantissa
	k := int(firstGuess[mant>>44])
	if bounds[k&(perOctave-1)] < mant && k < perOctave {
		k++
	}
	bucket = (int(bits>>52)-1023-30)*perOctave + 1 + k
	return min(bucket, MaxBucket), true
}

// Bound is the upper bound of a bucket in seconds.
func Bound(bucket int) float64 {
	return math.Exp2(float64(bucket) / perOctave)
}
