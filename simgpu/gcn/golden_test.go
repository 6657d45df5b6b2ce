package gcn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden.tsv from what llvm-mc-21 prints")

var goldenFile = filepath.Join("testdata", "golden.tsv")

const invalidText = "<invalid>"

// TestGolden compares with a table of what llvm-mc-21 printed: target, bytes
// of one instruction, text. It needs no LLVM.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[*OpInfo]bool{}
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		name, rest, _ := strings.Cut(line, "\t")
		hexText, want, _ := strings.Cut(rest, "\t")
		code, err := hex.DecodeString(hexText)
		if err != nil {
			t.Fatal(err)
		}
		arch := Arch(slices.IndexFunc(Archs(), func(a Arch) bool { return a.String() == name }))
		in, err := Decode(arch, append(append([]byte(nil), code...), make([]byte, MaxLen)...), 0)
		switch {
		case want == invalidText && err == nil:
			t.Errorf("%s %s: %s, want invalid", name, hexText, in.String())
		case want == invalidText:
		case err != nil:
			t.Errorf("%s %s: %v, want %s", name, hexText, err, want)
		case in.String() != want || int(in.Len) != len(code):
			t.Errorf("%s %s:\ngot  %s (%d bytes)\nwant %s (%d bytes)", name, hexText, in.String(), in.Len, want, len(code))
		default:
			seen[in.Info] = true
			if in.Dual != nil {
				seen[in.Dual.Info] = true
			}
		}
	}
	if lines < 7000 {
		t.Errorf("%d lines in %s", lines, goldenFile)
	}
	for i := range opTable {
		if !seen[&opTable[i]] {
			t.Errorf("%s has no line for %s %s", goldenFile, opTable[i].Enc, opTable[i].Name)
		}
	}
}

// writeGolden chooses patterns of every opcode: up to one of each form and
// length, and some that are invalid.
func writeGolden(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("# What llvm-mc-21 prints for generated patterns: target, bytes, text. go test -run TestGolden -update writes it.\n")
	for arch := Arch(0); arch < numArch; arch++ {
		for _, enc := range encodings(arch) {
			r := rand.New(rand.NewSource(int64(enc)))
			var blocks [][]uint32
			var ops []uint32
			for op := uint32(0); op < opcodeCount(arch, enc); op++ {
				for _, b := range ordinaryBlocks(r, arch, enc, op) {
					blocks = append(blocks, b)
					ops = append(ops, op)
				}
			}
			have := map[string]int{}
			order := r.Perm(len(blocks))
			texts := llvmMC(t, arch, blocks)
			pick := make([]bool, len(blocks))
			for _, i := range order {
				text := invalidText
				if len(texts[i]) > 0 {
					text = texts[i][0]
				}
				if text == crashed[0] {
					continue
				}
				key := fmt.Sprint(ops[i], goldenLen(arch, blocks[i]), strings.Fields(text)[0])
				limit := 1
				if text == invalidText {
					key, limit = invalidText, 20
				} else if strings.Contains(text, "/*") {
					key, limit = "/*", 10
				}
				if have[key]++; have[key] <= limit {
					pick[i] = true
				}
			}
			for i, b := range blocks {
				if !pick[i] {
					continue
				}
				text, n := invalidText, 8
				if len(texts[i]) > 0 {
					text, n = texts[i][0], goldenLen(arch, b)
				}
				var code []byte
				for _, w := range b {
					code = binary.LittleEndian.AppendUint32(code, w)
				}
				fmt.Fprintf(&out, "%s\t%x\t%s\n", arch, code[:n], text)
			}
		}
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// goldenLen is the length of a block's first instruction; that it is right is
// what TestOrdinary shows with the words that follow.
func goldenLen(arch Arch, block []uint32) int {
	var code []byte
	for _, w := range block {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	in, err := Decode(arch, code, 0)
	if err != nil {
		return 0
	}
	return int(in.Len)
}

// TestErrors checks what is said of bytes that are no instruction.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		code []byte
		off  int
		want string
	}{
		{nil, 0, "truncated"},
		{[]byte{0, 0, 0x81}, 0, "truncated"},
		{[]byte{0xff, 0x00, 0x00, 0x68}, 0, "truncated"},                          // literal missing
		{[]byte{0x00, 0x80, 0x70, 0xdc}, 0, "truncated"},                          // second word missing
		{[]byte{0, 0, 0, 0, 0x00, 0x00, 0xfe, 0xff}, 4, "00 00 fe ff"},            // no encoding
		{[]byte{0x00, 0x00, 0x9f, 0xbf}, 0, "no SOPP opcode 31"},                  // no opcode
		{[]byte{0x01, 0x00, 0x8a, 0xbf}, 0, "reserved bits"},                      // s_barrier with an operand
		{[]byte{0xf9, 0, 0, 0x02, 0, 7, 6, 6}, 0, "SDWA selector"},                // selects nothing
		{[]byte{0, 0, 0x54, 0xdc, 0, 0, 0, 0xff}, 0, "registers beyond the last"}, // v[255:256]
		{make([]byte, 8), 9, "outside"},
		{make([]byte, 8), -4, "outside"},
	} {
		_, err := Decode(GFX90A, c.code, c.off)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("% x at %d: %v, want %q", c.code, c.off, err, c.want)
		}
	}
	if _, err := Decode(Arch(9), make([]byte, 8), 0); err == nil {
		t.Error("unknown target accepted")
	}
}

// TestAllocations: decoding a large code object must not keep the collector busy.
func TestAllocations(t *testing.T) {
	code := []byte{0x00, 0x80, 0x54, 0xdc, 0x04, 0x00, 0x7f, 0x08}
	in, err := Decode(GFX942, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 128)
	if n := testing.AllocsPerRun(100, func() { buf = in.AppendText(buf[:0]) }); n > 0 {
		t.Errorf("AppendText allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { in, _ = Decode(GFX942, code, 0) }); n > 1 {
		t.Errorf("Decode allocates %v times", n)
	}
}
