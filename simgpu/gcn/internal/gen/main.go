// Command gen turns ops.tsv into zz_ops.go. Run it by go generate in package gcn.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"sort"
	"strconv"
	"strings"
)

// targets is how many there are; each has a column with its opcodes.
const targets = 4

// row is a line of ops.tsv.
type row struct {
	enc, name, op string
	opcode        [targets]int
	operands      []string // Go composite literals
	flags         string   // Go expression
	zero          [targets]uint64
	mods          uint64
	sdwa, dpp     string // Go composite literals
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	in := flag.String("in", "ops.tsv", "table to read")
	out := flag.String("out", "zz_ops.go", "file to write")
	flag.Parse()
	src, err := generate(*in)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, src, 0o644); err != nil {
		log.Fatal(err)
	}
}

// generate reads a table and returns the Go source for it.
func generate(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rows, err := parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return format.Source(emit(rows))
}

var roles = map[string]string{
	"d": "RoleDst", "sd": "RoleSDst", "0": "RoleSrc0", "1": "RoleSrc1", "2": "RoleSrc2",
	"addr": "RoleAddr", "data": "RoleData", "data1": "RoleData1", "base": "RoleBase",
	"soff": "RoleSOffset", "s0": "RoleScale0", "s1": "RoleScale1", "imm": "RoleImm",
}

var classes = map[string]string{
	"v": "ClassV", "a": "ClassA", "va": "ClassVA", "vc": "ClassVC", "vs": "ClassVS", "vsnl": "ClassVSNL",
	"s": "ClassS", "ss": "ClassSS", "vcc": "ClassVCC", "tied": "ClassTied", "k": "ClassK",
}

var types = map[string]string{
	"i16": "I16", "f16": "F16", "v2i16": "V2I16", "v2f16": "V2F16", "bf16": "BF16", "v2bf16": "V2BF16", "i32": "I32", "f32": "F32",
	"v2i32": "V2I32", "v2f32": "V2F32", "i64": "I64", "f64": "F64", "x3": "X3", "x4": "X4",
	"x5": "X5", "x6": "X6", "x8": "X8", "x12": "X12", "x16": "X16", "x32": "X32", "f64x4": "F64X4", "mask": "Mask",
}

var flags = map[string]string{
	"rvcc": "ReadsVCC", "wvcc": "WritesVCC", "rscc": "ReadsSCC", "wscc": "WritesSCC",
	"rexec": "ReadsEXEC", "wexec": "WritesEXEC", "branch": "IsBranch", "term": "IsTerm",
	"load": "IsLoad", "store": "IsStore", "atomic": "IsAtomic", "nosuffix": "NoSuffix",
	"rtn": "ReturnsGLC", "twoaddr": "TwoAddr", "alllanes": "AllLanes", "lds": "LDSDest",
	"e64": "HasE64", "nodstsel": "NoDstSel",
	"cmpswap": "IsCmpSwap", "gws": "IsGWS", "mix": "MixMods", "noopsel": "NoOpSel", "formats": "Formats",
}

func parse(text string) ([]row, error) {
	var rows []row
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseRow(strings.Split(line, "\t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func parseRow(f []string) (row, error) {
	if len(f) != 8+targets {
		return row{}, fmt.Errorf("%d columns, want %d", len(f), 8+targets)
	}
	r := row{enc: f[0], name: f[1], op: strings.ToUpper(f[1])}
	opcodes, f := f[2:2+targets], f[2+targets:]
	for i, s := range opcodes {
		v, err := strconv.Atoi(s)
		if err != nil {
			return row{}, err
		}
		r.opcode[i] = v
	}
	if f[0] != "-" {
		for _, s := range strings.Fields(f[0]) {
			o, err := operand(s)
			if err != nil {
				return row{}, err
			}
			r.operands = append(r.operands, o)
		}
	}
	r.flags = "0"
	if f[1] != "-" {
		var names []string
		for _, s := range strings.Fields(f[1]) {
			if strings.HasPrefix(s, "op:") {
				r.op = strings.ToUpper(s[3:])
				continue
			}
			name, ok := flags[s]
			if !ok {
				return row{}, fmt.Errorf("flag %q", s)
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			r.flags = strings.Join(names, "|")
		}
	}
	return r, r.masks(f[2:])
}

// masks reads the last four columns.
func (r *row) masks(f []string) error {
	var err error
	zero := strings.Split(f[0], ",")
	if len(zero) > targets {
		return fmt.Errorf("%d masks", len(zero))
	}
	for i := range r.zero {
		if r.zero[i], err = strconv.ParseUint(zero[min(i, len(zero)-1)], 16, 64); err != nil {
			return err
		}
	}
	if r.mods, err = strconv.ParseUint(f[1], 16, 64); err != nil {
		return err
	}
	if r.sdwa, err = form(f[2]); err != nil {
		return err
	}
	r.dpp, err = form(f[3])
	return err
}

// form turns "zero/mods" into a composite literal.
func form(s string) (string, error) {
	if s == "-" {
		return "FormInfo{}", nil
	}
	z, m, ok := strings.Cut(s, "/")
	zero, err := strconv.ParseUint(z, 16, 32)
	if err != nil || !ok {
		return "", fmt.Errorf("form %q", s)
	}
	mods, err := strconv.ParseUint(m, 16, 32)
	return fmt.Sprintf("FormInfo{true,%#x,%#x}", zero, mods), err
}

// operand turns "d=v:f32" into a composite literal; a leading ! marks an
// operand that is used but not written.
func operand(s string) (string, error) {
	quiet := strings.HasPrefix(s, "!")
	role, rest, ok1 := strings.Cut(strings.TrimPrefix(s, "!"), "=")
	class, typ, ok2 := strings.Cut(rest, ":")
	if !ok1 || !ok2 || roles[role] == "" || classes[class] == "" || types[typ] == "" {
		return "", fmt.Errorf("operand %q", s)
	}
	return fmt.Sprintf("{%s,%s,%s,%t}", roles[role], classes[class], types[typ], quiet), nil
}

// list prints values separated by commas.
func list[T any](format string, values []T) string {
	var s []string
	for _, v := range values {
		s = append(s, fmt.Sprintf(format, v))
	}
	return strings.Join(s, ",")
}

func emit(rows []row) []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated by internal/gen from ops.tsv; DO NOT EDIT.\n\npackage gcn\n\n")
	set := map[string]bool{}
	for _, r := range rows {
		set[r.op] = true
	}
	ops := make([]string, 0, len(set))
	for op := range set {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	b.WriteString("// The operations.\nconst (\nOpNone Op = iota\n")
	for _, op := range ops {
		fmt.Fprintf(&b, "%s\n", op)
	}
	b.WriteString("\n// NumOps is one more than the greatest Op.\nNumOps = int(iota)\n)\n\n")
	b.WriteString("var opNames = [NumOps]string{\n\"none\",\n")
	for _, op := range ops {
		fmt.Fprintf(&b, "%q,\n", strings.ToLower(op))
	}
	b.WriteString("}\n\n// opTable has one row per encoding and mnemonic, in the order of ops.tsv.\nvar opTable = []OpInfo{\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "{%q,%s,%s,[numArch]int16{%s},", r.name, r.op, r.enc, list("%d", r.opcode[:]))
		if len(r.operands) == 0 {
			b.WriteString("nil,")
		} else {
			fmt.Fprintf(&b, "[]OperandInfo{%s},", strings.Join(r.operands, ","))
		}
		fmt.Fprintf(&b, "%s,[numArch]uint64{%s},%#x,%s,%s},\n", r.flags, list("%#x", r.zero[:]), r.mods, r.sdwa, r.dpp)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
