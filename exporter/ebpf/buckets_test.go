//go:build linux && amd64

package ebpf

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// The kernel's programs put durations into the very buckets of rpcstats: their code,
// compiled for this machine, agrees on every bound, and on what is beside it.
func TestBuckets(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "buckets")
	gcc(t, "-O2", "-w", "testdata/buckets.c", "-o", bin)
	var numbers []uint64
	for i := firstIndex; i <= rpcstats.MaxBucket+8; i++ {
		bound := uint64(math.Exp2(float64(i)/8) * 1e9)
		numbers = append(numbers, bound-1, bound, bound+1)
	}
	for range 20000 {
		numbers = append(numbers, rand.Uint64()>>rand.IntN(64))
	}
	for i := range 64 {
		numbers = append(numbers, 1<<i, 1<<i-1, 1<<i+1)
	}
	var in, out bytes.Buffer
	for _, n := range numbers {
		fmt.Fprintln(&in, n)
	}
	cmd := exec.Command(bin)
	cmd.Stdin, cmd.Stdout = &in, &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		var bucket, size int
		if _, err := fmt.Fscanln(&out, &bucket, &size); err != nil {
			t.Fatal(err)
		}
		want := firstIndex
		if n > 0 && n < 1<<53 { // beyond, rpcstats itself rounds
			want, _ = rpcstats.BucketOf(time.Duration(n))
		} else if n > 0 {
			want = rpcstats.MaxBucket
		}
		if want = max(want, firstIndex); bucket != want {
			t.Errorf("%d ns are put into bucket %d, not %d", n, bucket, want)
		}
		wantSize := 0
		if n > 1 {
			wantSize = bits.Len64(n - 1)
		}
		if size != wantSize {
			t.Errorf("%d is put into the %dth power of two, not the %dth", n, size, wantSize)
		}
	}
}

// BenchmarkProbe is what a call of a function that does nothing costs the program,
// without a probe and with those of both ways to attach.
func BenchmarkProbe(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*Options)
	}{
		{"none", func(o *Options) { o.Functions = []string{"memory"} }},
		{"multi", func(o *Options) { o.Functions = []string{"hipGetDevice"} }},
		{"single", func(o *Options) { o.Functions, o.noMulti = []string{"hipGetDevice"}, true }},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, program := stub(b)
			tr := open(b, c.change)
			r := start(b, program, "many")
			watched(b, tr, 1)
			fmt.Fprintln(r.in)
			var ns float64
			if _, err := fmt.Fscan(r.out, &ns); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				tr.Poll(b.Context())
			}
			b.ReportMetric(ns, "ns/call")
		})
	}
}
