package folding

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/rocwire/rocwire/conformance/internal/simrun"
	"github.com/rocwire/rocwire/examples/kernels"
)

// Result is what was compared.
type Result struct {
	Operations, Values int
	Differences        []string
}

var (
	function = regexp.MustCompile(`^define void @o(\d+)\(`)
	store    = regexp.MustCompile(`^  store i64 (-?\d+), ptr %g(\d+)`)
)

// Check compares all operations on operands that follow from the seed, for one GPU. It works in a folder of its own and needs clang-19 and opt-19.
func Check(ctx context.Context, dir, arch string, seed uint64) (*Result, error) {
	ops := operations()
	r := rand.New(rand.NewPCG(seed, 0))
	values := make([][cases][3]uint64, len(ops))
	for i := range ops {
		values[i] = operands(r, &ops[i])
	}
	folded, err := fold(ctx, dir, arch, constants(ops, values))
	if err != nil {
		return nil, err
	}
	var used []op
	var input [][cases][3]uint64
	var want []map[int]uint64
	for i := range ops {
		if len(folded[i]) > 0 {
			used, input, want = append(used, ops[i]), append(input, values[i]), append(want, folded[i])
		}
	}
	source, object := filepath.Join(dir, "k.ll"), filepath.Join(dir, "k.co")
	if err := os.WriteFile(source, []byte(kernelsOf(used)), 0o666); err != nil {
		return nil, err
	}
	if text, err := exec.CommandContext(ctx, "clang-19", "--target=amdgcn-amd-amdhsa", "-mcpu="+arch, "-nogpulib", "-fno-crash-diagnostics", "-ffp-contract=off", "-O1", "-w", "-x", "ir", source, "-o", object).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("clang-19: %w\n%s", err, text)
	}
	image, err := os.ReadFile(object)
	if err != nil {
		return nil, err
	}
	card, err := simrun.Load(arch, image)
	if err != nil {
		return nil, err
	}
	defer card.Close()
	res := &Result{Operations: len(used)}
	for i, o := range used {
		res.Values += len(want[i])
		for _, kind := range o.kinds() {
			if err := res.compare(card, kind+strconv.Itoa(i), &o, &input[i], want[i]); err != nil {
				return nil, err
			}
		}
	}
	return res, nil
}

// fold has opt replace the module's results by constants: for each operation, those of its cases that it knew.
func fold(ctx context.Context, dir, arch, module string) (map[int]map[int]uint64, error) {
	source := filepath.Join(dir, "c.ll")
	if err := os.WriteFile(source, []byte(module), 0o666); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "opt-19", "-S", "-mtriple=amdgcn-amd-amdhsa", "-mcpu="+arch, "-passes=instcombine", source)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("opt-19: %w\n%s", err, text.Bytes())
	}
	folded, now := map[int]map[int]uint64{}, map[int]uint64{}
	for l := range bytes.Lines(out.Bytes()) {
		if m := function.FindSubmatch(l); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			now = map[int]uint64{}
			folded[n] = now
		} else if m := store.FindSubmatch(l); m != nil {
			v, err := strconv.ParseInt(string(m[1]), 10, 64)
			i, _ := strconv.Atoi(string(m[2]))
			if err != nil || i >= cases {
				return nil, fmt.Errorf("opt-19 wrote %q", l)
			}
			now[i] = uint64(v)
		}
	}
	return folded, nil
}

// compare runs one kernel.
func (res *Result) compare(card *simrun.Card, name string, o *op, input *[cases][3]uint64, want map[int]uint64) error {
	var in []byte
	for _, v := range input {
		for _, x := range v {
			in = binary.LittleEndian.AppendUint64(in, x)
		}
	}
	c := &kernels.Case{Name: o.name, Kernel: name, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{cases, 1, 1},
		Buffers: []kernels.Buffer{{Data: in}, {Data: make([]byte, 8*cases)}}, Args: []kernels.Arg{{Buffer: 0, Align: 8}, {Buffer: 1, Align: 8}}}
	if name[0] == 's' {
		c.Grid[0], c.Block[0] = cases, 1
	}
	out, err := card.Run(c)
	if err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	for i := range cases {
		w, ok := want[i]
		got := binary.LittleEndian.Uint64(out.Buffers[1][8*i:])
		if !ok || got == w || nan(o.result, got) && nan(o.result, w) || o.except != nil && o.except(input[i]) {
			continue
		}
		res.Differences = append(res.Differences, fmt.Sprintf("%s (%s) of %#x: %#x, LLVM says %#x", o.name, map[byte]string{'v': "vector", 's': "scalar"}[name[0]], input[i][:len(o.args)], got, w))
	}
	return nil
}

func nan(t string, v uint64) bool {
	switch t {
	case "half":
		return v&0x7fff > 0x7c00
	case "float":
		return v&0x7fffffff > 0x7f800000
	case "double":
		return math.IsNaN(math.Float64frombits(v))
	}
	return false
}
