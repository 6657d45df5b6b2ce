package hipv1

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// unhex is bytes written as people read them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// messages are requests as clients send them.
var messages = []struct {
	name    string
	op      Op
	dialect Dialect
	payload string
	want    any
	used    int
}{
	{"set device", OpSetDevice, Unknown, "01000000", &DeviceRequest{1}, 4},
	{"malloc", OpMalloc, Unknown, "0010000000000000 00000000", &MallocRequest{Size: 4096}, 12},
	{"malloc at", OpMallocVaddr, Unknown, "00000000007f0000 0010000000000000 0000000000000000 00000000", &MallocVaddrRequest{Vaddr: 0x7f0000000000, Size: 4096}, 28},
	{
		"memcpy to the device", OpMemcpy, Unknown, "00000000007f0000 0070ffffff7f0000 0400000000000000 01000000 0000000000000000 deadbeef",
		&MemcpyRequest{Dst: 0x7f0000000000, Src: 0x7fffffff7000, Size: 4, Kind: 1}, 36,
	},
	{"stream, February", OpStreamCreate, Unknown, "01000000 ffffffff", &StreamCreateRequest{Flags: 1, Priority: -1}, 8},
	{"stream, April", OpStreamCreateWithFlags, Unknown, "01000000 00000000 10000000005f0000", &StreamCreateRequest{Flags: 1, Vhandle: 0x5f0000000010}, 16},
	{"stream with nothing", OpStreamCreate, Unknown, "", &StreamCreateRequest{}, 0},
	{"module, February", OpModuleLoadData, Unknown, "0400000000000000 7f454c46", &ModuleLoadRequest{DataSize: 4}, 8},
	{"module, April", OpModuleLoadData, Unknown, "0400000000000000 00000000 00bf0000 7f454c46", &ModuleLoadRequest{DataSize: 4, Vhandle: 0xbf0000000000}, 16},
	{"function, February", OpModuleGetFunction, Unknown, "0700000000000000 6164640000" + strings.Repeat("00", 251), &GetFunction{Module: 7, Name: "add"}, 264},
	{"function, later", OpModuleGetFunction, Unknown, "0700000000000000 6164640000" + strings.Repeat("00", 1019), &GetFunction{Module: 7, Name: "add"}, 1032},
	{
		"function, April", OpModuleGetFunction, Unknown, "0700000000000000 00000000 00af0000 6164640000" + strings.Repeat("00", 1019),
		&GetFunction{Module: 7, Vhandle: 0xaf0000000000, Name: "add"}, 1040,
	},
	{
		"launch, February", OpLaunchKernel, February,
		"0300000000000000 02000000 01000000 01000000 40000000 01000000 01000000 00000000 0000000000000000 02000000 0800000000000000 0800000008000000 1122334455667788 0500000000000000",
		&Launch{
			LaunchKernelRequest: LaunchKernelRequest{Function: 3, GridDimX: 2, GridDimY: 1, GridDimZ: 1, BlockDimX: 64, BlockDimY: 1, BlockDimZ: 1, NumArgs: 2},
			Args:                []KernelArg{{8, 0}, {8, 8}}, Data: []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 5, 0, 0, 0, 0, 0, 0, 0},
		}, 80,
	},
	{
		"launch, April", OpLaunchKernel, April,
		"0300000000000000 02000000 01000000 01000000 40000000 01000000 01000000 00000000 0000000000000000 01000000 01000000 0000000000000000 0000000000000000 00000000 0400000000000000 01020304",
		&Launch{
			LaunchKernelRequest: LaunchKernelRequest{Function: 3, GridDimX: 2, GridDimY: 1, GridDimZ: 1, BlockDimX: 64, BlockDimY: 1, BlockDimZ: 1, NumArgs: 1, LaunchFlags: 1},
			Args:                []KernelArg{{4, 0}}, Data: []byte{1, 2, 3, 4},
		}, 84,
	},
	{"metrics", OpSMIGetGPUMetrics, Unknown, "02000000", &SMIProcessorRequest{2}, 4},
}

func TestParse(t *testing.T) {
	for _, m := range messages {
		b := unhex(t, m.payload)
		got, used, err := Parse(m.op, m.dialect, uint32(len(b)), b)
		if err != nil || used != m.used || !reflect.DeepEqual(got, m.want) {
			t.Errorf("%s: %+v, %d bytes, %v; want %+v, %d", m.name, got, used, err, m.want, m.used)
		}
		if l, ok := m.want.(*Launch); ok { // where nothing else tells, the lengths do
			if got, _, err := Parse(m.op, Unknown, uint32(len(b)), b); err != nil || !reflect.DeepEqual(got, l) {
				t.Errorf("%s without a dialect: %+v, %v", m.name, got, err)
			}
		}
	}
}

// What a hostile client says is no message.
func TestParseBad(t *testing.T) {
	head := "0300000000000000 01000000 01000000 01000000 01000000 01000000 01000000 00000000 0000000000000000"
	for _, m := range []struct {
		name    string
		op      Op
		dialect Dialect
		length  int // of the payload, 0 for what there is
		payload string
	}{
		{"an argument at 0xfffffff0, February", OpLaunchKernel, February, 0, head + "01000000 08000000f0ffffff 0102030405060708"},
		{"an argument at 0xfffffff0, April", OpLaunchKernel, April, 0, head + "01000000 00000000 0000000000000000 0000000000000000 00000000 20000000f0ffffff 0102030405060708"},
		{"an argument at 0xfffffff0 of nobody's", OpLaunchKernel, Unknown, 0, head + "01000000 08000000f0ffffff 0102030405060708"},
		{"an argument of four GiB", OpLaunchKernel, February, 0, head + "01000000 ffffffff00000000"},
		{"four thousand million arguments", OpLaunchKernel, February, 0, head + "ffffffff"},
		{"65 arguments", OpLaunchKernel, February, 0, head + "41000000" + strings.Repeat("0000000000000000", 65)},
		{"a launch that is cut", OpLaunchKernel, February, 0, head},
		{"a code object that is longer than the payload", OpModuleLoadData, Unknown, 0, "ffffffffffffffff 7f454c46"},
		{"a code object of nothing in a payload of much", OpModuleLoadData, Unknown, 1 << 20, "0000000000000000 0000000000000000"},
		{"a name that is longer than the payload", OpModuleLoadAndGetFunction, Unknown, 44, "0400000000000000 0000000000000000 ffffffff 00000000 0000000000000000 0000000000000000"},
		{"sizes that only fit together modulo 2^64", OpModuleLoadAndGetFunction, Unknown, 44, "0500000000000000 0000000000000000 ffffffff 00000000 0000000000000000 0000000000000000"},
		{"a name without an end", OpModuleGetFunction, Unknown, 0, "0700000000000000" + strings.Repeat("61", 256)},
		{"a function's name of another length", OpModuleGetFunction, Unknown, 0, "0700000000000000" + strings.Repeat("00", 300)},
		{"a copy that is cut", OpMemcpy, Unknown, 0, "00000000007f0000"},
		{"a launch that is both", OpLaunchKernel, Unknown, 0, head + "03000000" + strings.Repeat("0800000000000000", 1) + "0800000008000000 0800000010000000" + strings.Repeat("0000000000000000", 3)},
	} {
		b := unhex(t, m.payload)
		n := m.length
		if n == 0 {
			n = len(b)
		}
		if got, _, err := Parse(m.op, m.dialect, uint32(n), b); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %+v, %v", m.name, got, err)
		}
	}
	for _, op := range []Op{0, 0x0216, 0x0730, 0x0900, 0xffff} {
		if _, _, err := Parse(op, April, 0, nil); err != ErrOperation {
			t.Errorf("%v: %v", op, err)
		}
	}
}

func TestHeader(t *testing.T) {
	b := unhex(t, "52504948 0001 1002 07000000 28000000 0c000000")
	want := Header{Version: 0x0100, Op: OpMemcpy, ID: 7, Length: 40, Flags: FlagInlineData | FlagNoReply}
	h, err := ParseHeader(b)
	if err != nil || h != want || !bytes.Equal(h.Append(nil), b) {
		t.Errorf("%+v, %v, %x", h, err, h.Append(nil))
	}
	for _, bad := range []string{
		"52504949 0001 1002 07000000 28000000 0c000000", // magic
		"52504948 0002 1002 07000000 28000000 0c000000", // version
		"52504948 0001 1002 07000000 01000080 0c000000", // length
	} {
		if h, err := ParseHeader(unhex(t, bad)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %+v, %v", bad, h, err)
		}
	}
}

// Replies have their recorded bytes, whether they succeed or not.
func TestReply(t *testing.T) {
	ask := Header{Version: Version, Op: OpMalloc, ID: 9}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"INIT is four bytes", AppendReply(nil, Header{Op: OpInit, ID: 1}, Unknown, 0, nil, 0), "52504948 0001 0100 01000000 04000000 01000000 00000000"},
		{"an address", AppendReply(nil, ask, Unknown, 0, &MallocReply{0x7f0000001000}, 0), "52504948 0001 0002 09000000 0c000000 01000000 00000000 00100000007f0000"},
		{"no address", AppendReply(nil, ask, Unknown, 2, nil, 0), "52504948 0001 0002 09000000 0c000000 01000000 02000000 0000000000000000"},
		{"bytes behind it", AppendReply(nil, Header{Op: OpMemcpyAsync, ID: 3}, Unknown, 0, nil, 16), "52504948 0001 1002 03000000 14000000 01000000 00000000"},
		{"a list", AppendReply(nil, Header{Op: OpGraphGetNodes, ID: 3}, Unknown, 0, &Listed{&GraphGetNodesReply{NumNodes: 1}, []uint64{5}}, 0), "52504948 0001 4506 03000000 14000000 01000000 00000000 01000000 00000000 0500000000000000"},
		{"a refusal of INIT", Refusal(Header{Op: OpInit, ID: 1}, 3), "52504948 0001 0100 01000000 04000000 01000000 03000000"},
		{"a refusal of SMI_INIT", Refusal(Header{Op: OpSMIInit, ID: 1}, -1), "52504948 0001 0008 01000000 04000000 01000000 ffffffff"},
		{"a refusal of what wants no reply", Refusal(Header{Op: OpFree, Flags: FlagNoReply}, 3), ""},
	} {
		if !bytes.Equal(c.got, unhex(t, c.want)) {
			t.Errorf("%s: %x", c.name, c.got)
		}
	}
	if n := len(AppendReply(nil, Header{Op: OpModuleGetFunction}, February, 500, nil, 0)); n != HeaderSize+20 {
		t.Errorf("February's answer about a function that is not there: %d bytes", n)
	}
}

// Whatever the bytes are, Parse answers, and what it says of them is true.
func FuzzParse(f *testing.F) {
	for _, m := range messages {
		f.Add(uint16(m.op), uint8(m.dialect), uint32(0), unhex(f, m.payload))
	}
	f.Fuzz(func(t *testing.T, op uint16, dialect uint8, more uint32, b []byte) {
		length := uint32(len(b))
		if _, split := HeadSize(Op(op)); split {
			length += more % (1 << 30)
		}
		body, used, err := Parse(Op(op), Dialect(dialect%4), length, b)
		if err == nil && (used > len(b) || used < 0) {
			t.Fatalf("%v: %d bytes of %d", Op(op), used, len(b))
		}
		if l, ok := body.(*Launch); ok && err == nil {
			for i := range l.Args {
				_ = l.Arg(i)
			}
		}
		if len(b) >= HeaderSize {
			if h, err := ParseHeader(b); err == nil && !bytes.Equal(h.Append(nil), b[:HeaderSize]) {
				t.Fatalf("%+v", h)
			}
		}
		_ = DialectOf(Op(op), length, b)
		AppendReply(nil, Header{Op: Op(op)}, Dialect(dialect%4), 1, nil, 0)
	})
}
