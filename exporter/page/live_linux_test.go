package page

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

var (
	screenshot     = flag.String("screenshot", "", "file for a picture of the page of a worker under work")
	screenshotTime = flag.Duration("screenshot-time", 6*time.Minute, "how long that worker works before")
)

// The test binary is its own session process, and the programs that use the worker.
func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	if len(os.Args) > 1 && os.Args[1] == "__program" {
		exit(program(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// person is somebody who runs a program on another machine.
type person struct{ user, host, pod, namespace, program, work string }

var people = []person{
	{"ada", "train-0", "train-0", "research", "train.py", "train"},
	{"grace", "train-1", "train-1", "research", "train.py", "train"},
	{"edsger", "serve-2", "chat-7f9c4", "serving", "llm-server", "serve"},
	{"barbara", "laptop-barbara", "", "", "notebook", "idle"},
	{"alan", "batch-5", "docking-12", "chem", "dock", "copy"},
}

// run starts a person's program, on a machine of another name where this test may
// make one up (as root), otherwise as who it is. It ends when ctx is done.
func (x person) run(t *testing.T, ctx context.Context, dir string, port, card int) {
	t.Helper()
	exe := filepath.Join(dir, x.program)
	if err := os.Link(os.Args[0], exe); err != nil && !os.IsExist(err) {
		b, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(exe, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	passwd := filepath.Join(dir, "passwd-"+x.user)
	if err := os.WriteFile(passwd, []byte(x.user+":x:0:0::/:/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	command := func(flags uintptr) *exec.Cmd {
		cmd := exec.CommandContext(ctx, exe, "__program", strconv.Itoa(port), strconv.Itoa(card), x.work, x.host, passwd)
		cmd.Env = append(os.Environ(), "POD_NAME="+x.pod, "POD_NAMESPACE="+x.namespace, "USER="+x.user)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	cmd := command(syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS)
	if err := cmd.Start(); err != nil {
		if cmd = command(0); cmd.Start() != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = cmd.Wait() })
}

// program is such a program: port, card, kind of work, host, passwd.
func program(args []string) error {
	if os.Getuid() == 0 {
		if old, err := os.Hostname(); err == nil && old != args[3] && syscall.Sethostname([]byte(args[3])) == nil {
			if syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, "") == nil {
				_ = syscall.Mount(args[4], "/etc/passwd", "", syscall.MS_BIND, "") // it has its own name then
			}
		}
	}
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: args[0], Devices: args[1], ConnectTimeout: time.Minute, IOTimeout: time.Minute})
	defer c.Close()
	return work(c, args[2])
}

// work keeps a card busy until it fails, which it does when the process is ended.
func work(c *hipremote.Client, kind string) error {
	th, begin := hip.Thread{}, time.Now()
	image, err := kernels.Object("gfx942", "spin")
	if err != nil {
		return err
	}
	m, e := c.ModuleLoadData(th, image)
	if e != hip.Success {
		return e
	}
	f, e := c.ModuleGetFunction(th, m, "spin")
	if e != hip.Success {
		return e
	}
	size := map[string]uint64{"train": 900 << 20, "serve": 1300 << 20, "idle": 200 << 20, "copy": 400 << 20}[kind]
	model, e := c.Malloc(th, size)
	if e != hip.Success {
		return e
	}
	host := make([]byte, 1<<20)
	at := hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(host))))
	defer runtime.KeepAlive(host) // of which nothing but its address is used below
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for {
		age := time.Since(begin).Minutes()
		swing := 0.5 + 0.5*math.Sin(age*4+float64(len(kind)))
		rounds, pause, copies := uint64(200+2500*swing), time.Duration(2+10*r.Float64())*time.Millisecond, 1
		switch kind {
		case "serve":
			rounds, pause = uint64(100+r.ExpFloat64()*900), time.Duration(1+20*r.ExpFloat64()*(1.2-swing))*time.Millisecond
		case "idle":
			rounds, pause = 300, 150*time.Millisecond
		case "copy":
			rounds, pause, copies = 50, 5*time.Millisecond, 4
		}
		for range copies {
			n := uint64(1+r.IntN(16)) << 14
			e = first(e, c.Memcpy(th, model, at, n, hip.MemcpyHostToDevice))
			e = first(e, c.Memcpy(th, at, model, n/2, hip.MemcpyDeviceToHost))
		}
		part, err := c.Malloc(th, uint64(1+r.IntN(64))<<20)
		e = first(e, err)
		e = first(e, c.MemsetAsync(th, part, 0, 1<<16, 0))
		e = first(e, c.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 64, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: spinArgs(model, rounds)}))
		e = first(e, c.DeviceSynchronize(th))
		e = first(e, c.Free(th, part))
		if e == hip.ErrorOutOfMemory {
			e = hip.Success // told of the attempt below, maybe by a later call
		}
		if e != hip.Success {
			return e
		}
		if r.IntN(4000) == 0 { // as programs do that look how far they get
			_, _ = c.Malloc(th, 1<<44)
		}
		time.Sleep(pause)
	}
}

func spinArgs(out hip.Ptr, rounds uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(out))
	b = binary.LittleEndian.AppendUint64(b, rounds)
	return binary.LittleEndian.AppendUint32(b, 64*64)
}

func first(a, b hip.Error) hip.Error {
	if a != hip.Success {
		return a
	}
	return b
}

// liveWorker is a worker with simulated cards and an exporter that reads it.
func liveWorker(t *testing.T, cards int) (*worker.Server, *exporter.Exporter) {
	t.Helper()
	w := workertest.Simulated(t, simbackend.Options{Arch: "gfx942", MemoryBytes: 4 << 30, Cards: cards})
	e, err := exporter.New(exporter.Options{Source: w.Source(), Sessions: w, Calls: w.Calls()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(ctx) })
	t.Cleanup(func() { // before the worker ends
		cancel()
		wg.Wait()
	})
	return w, e
}

// A worker under work is shown: its cards, whose programs use them, what their calls
// cost, and how all that was.
func TestLiveWorker(t *testing.T) {
	b := startBrowser(t)
	w, e := liveWorker(t, 2)
	step := time.Second
	if *screenshot != "" {
		step = 2 * time.Second
	}
	p, err := New(Options{Read: e.Read, Place: exporter.Place{Host: "gpu-node-3", Cluster: "lab", Pool: "shared"}, Step: step, History: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { p.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for i, x := range people {
		x.run(t, ctx, dir, w.Addr().Port, i%2)
		if *screenshot != "" {
			time.Sleep(*screenshotTime / 20)
		}
	}
	time.Sleep(map[bool]time.Duration{true: *screenshotTime * 3 / 4}[*screenshot != ""])
	url := serve(t, p)
	tab := b.open(url+"#minutes=5", look{width: 1280, height: 800})
	tab.until("the page is drawn", ready)
	tab.until("all programs are shown", fmt.Sprintf(`document.querySelectorAll("#processes tbody tr").length === %d && document.querySelectorAll("#sessions tbody tr").length === %[1]d`, len(people)))
	tab.until("their calls are shown", `document.querySelectorAll("#calls tbody tr").length > 4`)
	tab.until("charts have lines", `["busy", "vram", "power", "temperature", "net", "quantiles", "rate", "process-vram", "session-calls"].every(id => [...document.querySelectorAll('[data-plot="' + id + '"] path.line')].some(l => l.getTotalLength() > 5))`)
	tab.until("the heat map is painted", `(c => c && c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v))(document.querySelector(".heat canvas"))`)
	tab.until("a card is busy", `/[1-9]\d* *.?%/.test(document.querySelector(".card .gauge b").textContent)`)
	text := eval[string](tab, `document.querySelector("#processes").innerText`)
	for _, want := range []string{"train.py", "llm-server", "notebook", "dock"} {
		if !strings.Contains(text, want) {
			t.Errorf("the processes do not show %s: %s", want, text)
		}
	}
	// It stays live: the figures change by themselves.
	before := eval[string](tab, `document.querySelector("#sessions tbody").innerText`)
	tab.until("the figures change", `document.querySelector("#sessions tbody").innerText !== `+strconv.Quote(before))
	// A function's own charts.
	eval[any](tab, `document.querySelector("#calls .link").click()`)
	tab.until("a function's charts are shown", `document.querySelector(".chooser code") && document.querySelectorAll("#calls .chart path.line").length > 0`)
	eval[any](tab, `document.querySelector(".chooser .more").click()`)
	tab.until("all charts are back", `document.querySelectorAll("#calls .chart").length > 6`)
	if *screenshot == "" {
		tab.until("the page has what "+pictureFile+" shows (make picture makes it again)", outline+` === `+strconv.Quote(pictureOutline(t)))
	} else {
		tab.look(look{width: 1280, height: 1840})
		time.Sleep(5 * time.Second)
		tab.picture(*screenshot, false)
		notePicture(t, *screenshot, eval[string](tab, outline))
		if *pictures != "" {
			tab.picture(filepath.Join(*pictures, "live.png"), true)
		}
	}
	tab.quiet()
	// The worker is gone: the page says so and keeps what it showed.
	if *screenshot == "" {
		cancel()
		tab.do("Network.emulateNetworkConditions", map[string]any{"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
		tab.until("the page says that it is cut off", `document.querySelector("#alerts").innerText.includes("does not answer") && document.querySelectorAll(".card").length === 2`)
	}
}
