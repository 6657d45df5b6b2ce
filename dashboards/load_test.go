package dashboards

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// loadEnv, when set, makes the test's program a HIP client that works until its
// standard input ends: several of them are several sessions.
const loadEnv = "ROCWIRE_DASHBOARDS_LOAD"

func TestMain(m *testing.M) {
	if os.Getenv(loadEnv) == "" {
		os.Exit(m.Run())
	}
	if err := load(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

const kept = 48 << 20 // bytes of each card

// load keeps both cards of a worker a little busy, with calls of all kinds, some
// of which fail.
func load() error {
	config := hipremote.FromEnv(os.LookupEnv)
	config.NoReserve = true
	c := hipremote.New(config)
	image, err := kernels.Object("gfx942", "saxpy")
	if err != nil {
		return err
	}
	var programs []*program
	for card := range int32(2) {
		p := &program{client: c, thread: hip.Thread{Device: card}}
		if err := p.prepare(image); err != nil {
			return fmt.Errorf("card %d: %w", card, err)
		}
		programs = append(programs, p)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		close(ended)
	}()
	for {
		for _, p := range programs {
			if err := p.round(); err != nil {
				return err
			}
		}
		select {
		case <-ended:
			return nil
		case <-time.After(40 * time.Millisecond):
		}
	}
}

// program is what a client does on one card.
type program struct {
	client *hipremote.Client
	thread hip.Thread
	saxpy  hip.Function
	x      hip.Ptr
	host   []byte
}

const elements = 16 << 10

func (p *program) prepare(image []byte) error {
	m, e := p.client.ModuleLoadData(p.thread, image)
	if e != hip.Success {
		return fmt.Errorf("hipModuleLoadData: %v", e)
	}
	if p.saxpy, e = p.client.ModuleGetFunction(p.thread, m, "saxpy"); e != hip.Success {
		return fmt.Errorf("hipModuleGetFunction: %v", e)
	}
	if p.x, e = p.client.Malloc(p.thread, kept); e != hip.Success {
		return fmt.Errorf("hipMalloc: %v", e)
	}
	p.host = make([]byte, elements*4)
	return nil
}

func (p *program) round() error {
	c, th, host := p.client, p.thread, hip.Ptr(uintptr(unsafe.Pointer(&p.host[0])))
	y, e := c.Malloc(th, elements*4)
	if e != hip.Success {
		return fmt.Errorf("hipMalloc: %v", e)
	}
	args := binary.LittleEndian.AppendUint32(nil, elements)
	args = append(args, 0, 0, 0x80, 0x3f) // 1.0
	args = binary.LittleEndian.AppendUint64(args, uint64(p.x))
	args = binary.LittleEndian.AppendUint64(args, uint64(y))
	for _, step := range []struct {
		name string
		code hip.Error
	}{
		{"hipMemcpy to the card", c.Memcpy(th, p.x, host, elements*4, hip.MemcpyHostToDevice)},
		{"hipModuleLaunchKernel", c.LaunchKernel(th, &hip.Launch{Function: p.saxpy, Grid: hip.Dim3{X: elements / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Args: args})},
		{"hipDeviceSynchronize", c.DeviceSynchronize(th)},
		{"hipMemcpy from the card", c.Memcpy(th, host, p.x, elements*4, hip.MemcpyDeviceToHost)},
		{"hipFree", c.Free(th, y)},
	} {
		if step.code != hip.Success {
			return fmt.Errorf("%s: %v", step.name, step.code)
		}
	}
	if _, e := c.Malloc(th, 1<<50); e != hip.ErrorOutOfMemory {
		return fmt.Errorf("hipMalloc of a PiB: %v", e)
	}
	return nil
}
