package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/confine"
	"github.com/rocwire/rocwire/worker/hostmem"
	"github.com/rocwire/rocwire/worker/simbackend"
)

const usage = `hip-worker serves GPUs to HIP programs on other machines and tells who uses them.

Usage: hip-worker [flags]
       hip-worker COMMAND

  --listen ADDRESS[:PORT]
                          address to listen on (127.0.0.1); others than loopback need TLS, and
                          --tls-client-ca, --token-file or --oidc-issuer. With unix:PATH listen on a Unix socket, instead or, with
                          both, besides; the kernel tells who connects there
  --socket-user USER      who may connect to the socket, by name or number, again for more (everybody who can reach it)
  --socket-group GROUP    a group whose members may, likewise
  --tls-cert FILE         certificate for the network address, which then takes TLS 1.3 only; PEM, read again when it changes. hip-worker keys
                          init makes one. The machine's OpenSSL encrypts where it is faster than Go (the log says who does);
                          ROCWIRE_LIBCRYPTO=0 in the environment is without it
  --tls-key FILE          its private key
  --tls-client-ca FILE    let only clients in whose certificate this CA has signed; the name in it is the session's user
  --insecure              let in whoever can reach the worker; nobody is asked who he is, and what is sent is not protected
  --allow-v1              serve programs of the earlier hip-remote protocol (0x0100) on other machines, too, and where there is TLS: they can neither
                          say who they are nor protect what they send. On this machine, without TLS, they are always served
  --no-shared-memory      serve programs on this machine through their sockets, as others, not through memory that is shared with them
  -p, --port PORT         port to listen on, 0 for a free one (18515, or TF_WORKER_PORT)
  --port-file FILE        write the port there once it is open
  --backend BACKEND       sim (simulated GPU), rocm (this machine's), auto (rocm if there is a GPU, otherwise sim)
  -d, --device N          serve only this card (all, or TF_DEVICE_ID; ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES are applied first)
  --max-sessions N        clients at once (256)
  --max-sessions-per-address N
                          of one address (seven eighths of all, so that nobody has all)
  --max-sessions-per-user N
                          of one user that is known (likewise)
  --max-management N      management connections at once (256, a sixteenth of them for operators only)
  --max-management-per-address N
                          of one address (half of them)
  --max-startups START:RATE:FULL
                          connections that have not said who they are: beyond START those of addresses with silent ones are
                          refused by chance, RATE percent and more up to FULL (256:30:512)
  --max-startups-per-address N
                          of one address (a quarter of FULL)
  --max-penalty TIME      for how long an address is refused at most whose connections keep coming to nothing, 0 for never (1m)
  --park TIME             how long a session waits, with its memory and work, for a client whose connection was cut, such as 30s; 0: it ends (1m).
                          It ends earlier when others need its memory or its place
  --session-memory SIZE   device memory that a session may have of each card, such as 16G (all)
  --session-host-memory SIZE
                          memory of this machine that a session may take: pinned and managed memory, modules, graphs, what is queued, …
                          (512M more than twice --session-memory, or half of the machine's; 16M at least)
  --module-cache SIZE     code objects kept for later sessions of the same user, which then need not be sent again, 0 for none (512M)
  --session-compute PCT   share of each card's time that a session's kernels may have, such as 50 (all)
                          Beyond TF_GPU_MEMORY_LIMIT (MiB of each card) and TF_CUDA_SM_PERCENT_LIMIT, which TensorFusion sets, no session
                          gets anything, whatever flags, tokens and quotas say
  --session-uids A-B      users that session processes run as, each its own, where the worker may choose (61184-65519)
  --session-cgroup DIR    control group (version 2) below which each session has one of its own: its memory, its threads, its end (the worker's own,
                          where that is delegated to it; none: no such groups)
  --session-network       let session processes connect to others: the runtime of --backend rocm leads to cards elsewhere
  --unconfined-sessions   no boundary around session processes, for a debugger: a client that takes one over is this user on this machine
  --smi-backend SOURCE    what tells about the cards: amdsmi (AMD's library), sysfs (the kernel's files), sim (the simulated
                          cards), none; auto is sim with simulated cards, otherwise amdsmi if it is there, or sysfs
  --smi-allow-set         let clients that have the right to change the cards (power cap, clocks, partitions, …) and quotas: root and the
                          worker's own user through the Unix socket, and tokens with the right "set"; with --insecure everybody
  --kubelet-socket SOCKET kubelet to ask which pod a card was given to, such as unix:///var/lib/kubelet/pod-resources/kubelet.sock
                          (that one if it is there), or none
  --proc DIR              where the host's /proc is, in a container that is not in the host's PID namespace (/proc)
  --metrics-addr ADDRESS  serve metrics for Prometheus at http://ADDRESS/metrics, and a page to look at (no)
  --sim-arch ARCH         simulated architecture: gfx90a, gfx942, gfx950 or gfx1100
  --sim-memory SIZE       memory of a simulated card, such as 8G (a quarter of this machine's)
  --sim-cards N           number of simulated cards (1)
  --sim-check[=KINDS]     look for bugs in kernels: uninit, race, bounds, align, wait, between commas; without KINDS all but align; all: all
                          (or TF_SIM_CHECK). Reports go to the program's standard error and to the log; kernels are much slower
  --sim-check-fatal       the first report ends the program's context, as a fault does
  --sim-trace KERNEL[,WORKGROUP[,WAVE]]
                          tell of each instruction of one wave, to the program's standard error. KERNEL may have * and ? in it; if
                          none of that name was launched, the log names those that were
  --sim-trace-format F    text, or json: a line each
  --sim-trace-limit N     instructions to tell of (10000)
  --sim-deterministic     the same bits every time: kernels execute one after the other, on one core, and time is counted in their instructions
  --sim-profile           tell in the log what kernels take their time for: which kernels, and which instructions were not executed as machine code
                          of this machine's processor. They are slower by it
  --config FILE           these settings, as YAML: the names of flags without dashes, and their values. Flags and variables go before it
                          (ROCWIRE_WORKER_CONFIG)
  -v, --verbose           log more (TF_DEBUG=1)
  --version               print the version
  -h, --help              print this
`

type options struct {
	listen                     listening
	tls                        worker.TLS
	who                        who
	portFile, backend, metrics string
	smi, kubelet, proc         string
	simArch                    string
	simMemory                  uint64
	watch                      simbackend.Watch
	service                    service.Options // of the metrics
	port, device, maxSessions  int
	park                       time.Duration
	simCards                   int
	insecure, verbose          bool
	noShare, allowV1           bool
	allowSet                   bool
	quota                      smi.Quota // of each session and card
	most                       smi.Quota // what none goes beyond
	hostMemory                 uint64    // of each session
	moduleCache                int64     // bytes, negative: none
	confine                    confine.Options
	rocrVisible, visible       string // ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES
	words                      words

	limits admission.Limits
}

// What --backend, --sim-arch and --smi-backend may be.
var (
	backends    = []string{"auto", "sim", rocmName}
	simArchs    = simgpu.Archs()
	smiBackends = []string{smiAuto, smiAMD, smiSysfs, smiSim, smiNone}
)

// words are flags that are read when all are known.
type words struct {
	hostMemory, memory, sessionMemory, sessionCompute, kubelet string
	port, listenPort                                           *int // of --port and of --listen
}

// newOptions reads the environment and adds the flags, which go before it.
func newOptions(f *flag.FlagSet, getenv func(string) string) (*options, error) {
	var wrong error // of the environment
	o := &options{port: worker.DefaultPort, device: -1, rocrVisible: getenv(visible.ROCrVariable), visible: getenv(visible.HIPVariable)}
	for name, dst := range map[string]*int{"TF_WORKER_PORT": &o.port, "TF_DEVICE_ID": &o.device} {
		if v := getenv(name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				wrong = fmt.Errorf("%s=%q is no number", name, v)
				continue
			}
			*dst = n
		}
	}
	var err error
	if o.most, err = hardLimits(getenv); err != nil {
		wrong = err
	}
	switch getenv("TF_DEBUG") {
	case "", "0", "false":
	default:
		o.verbose = true
	}
	f.Func("listen", "", func(s string) error {
		port, err := o.listen.add(s)
		if port != nil {
			o.words.listenPort = port
		}
		return err
	})
	f.Func("socket-user", "", o.listen.user)
	f.Func("socket-group", "", o.listen.group)
	f.StringVar(&o.tls.Cert, "tls-cert", "", "")
	f.StringVar(&o.tls.Key, "tls-key", "", "")
	f.StringVar(&o.tls.ClientCA, "tls-client-ca", "", "")
	f.BoolVar(&o.insecure, "insecure", false, "")
	f.BoolVar(&o.noShare, "no-shared-memory", false, "")
	f.BoolVar(&o.allowV1, "allow-v1", false, "")
	f.Func("port", "", func(s string) (err error) {
		o.words.port, err = parsePort(s)
		return err
	})
	f.IntVar(&o.device, "device", o.device, "")
	f.BoolVar(&o.verbose, "verbose", o.verbose, "")
	f.StringVar(&o.portFile, "port-file", "", "")
	f.StringVar(&o.backend, "backend", "auto", "")
	f.IntVar(&o.maxSessions, "max-sessions", worker.DefaultMaxSessions, "")
	addLimits(f, &o.limits)
	f.StringVar(&o.words.hostMemory, "session-host-memory", "", "")
	f.DurationVar(&o.park, "park", worker.DefaultPark, "")
	f.Func("module-cache", "", func(s string) error {
		n, err := access.ParseSize(s)
		if err == nil && n > math.MaxInt64 {
			err = fmt.Errorf("%q is too much", s)
		}
		if o.moduleCache = int64(n); n == 0 {
			o.moduleCache = -1 // 0 is the default
		}
		return err
	})
	f.StringVar(&o.words.sessionMemory, "session-memory", "", "")
	f.StringVar(&o.words.sessionCompute, "session-compute", "", "")
	f.Func("session-uids", "", func(s string) (err error) {
		o.confine.UIDs, err = confine.ParseUIDs(s)
		return err
	})
	f.StringVar(&o.confine.Cgroup, "session-cgroup", "", "")
	f.BoolVar(&o.confine.Network, "session-network", false, "")
	f.BoolVar(&o.confine.None, "unconfined-sessions", false, "")
	f.StringVar(&o.smi, "smi-backend", smiAuto, "")
	f.BoolVar(&o.allowSet, "smi-allow-set", false, "")
	f.StringVar(&o.words.kubelet, "kubelet-socket", "", "")
	f.StringVar(&o.proc, "proc", "", "")
	f.StringVar(&o.metrics, "metrics-addr", "", "")
	if err := o.service.FromEnv(getenv); err != nil {
		wrong = err
	}
	o.service.AddFlags(f)
	o.who.addFlags(f)
	f.StringVar(&o.simArch, "sim-arch", "", "")
	if err := o.watch.SetCheck(getenv("TF_SIM_CHECK")); err != nil {
		wrong = fmt.Errorf("TF_SIM_CHECK: %w", err)
	}
	f.StringVar(&o.words.memory, "sim-memory", "", "")
	f.IntVar(&o.simCards, "sim-cards", 1, "")
	o.watch.AddFlags(f)
	return o, wrong
}

// check completes the options and says what is wrong with them.
func (o *options) check() (err error) {
	if !slices.Contains(backends, o.backend) {
		return fmt.Errorf("--backend %q: there are %s", o.backend, strings.Join(backends, ", "))
	}
	if !slices.Contains(smiBackends, o.smi) {
		return fmt.Errorf("--smi-backend %q: there are %s", o.smi, strings.Join(smiBackends, ", "))
	}
	if o.smi == smiSim && o.backend == rocmName {
		return fmt.Errorf("--smi-backend sim needs simulated cards, and there are none with --backend rocm")
	}
	if o.proc != "" && !filepath.IsAbs(o.proc) {
		return fmt.Errorf("--proc %q is not an absolute path", o.proc)
	}
	switch one, other := o.words.port, o.words.listenPort; {
	case one != nil && other != nil && *one != *other:
		return fmt.Errorf("--port says %d, and --listen %d", *one, *other)
	case cmp.Or(one, other) != nil:
		o.port = *cmp.Or(one, other)
	case o.port > 65535:
		return fmt.Errorf("TF_WORKER_PORT=%d is not 0 to 65535", o.port)
	}
	if o.device < -1 {
		return fmt.Errorf("--device %d is not 0 or more", o.device)
	}
	if o.simCards < 1 || o.simCards > simgpu.MaxCards {
		return fmt.Errorf("--sim-cards %d is not 1 to %d", o.simCards, simgpu.MaxCards)
	}
	if o.maxSessions < 1 {
		return fmt.Errorf("--max-sessions %d is not 1 or more", o.maxSessions)
	}
	if o.simArch != "" && !slices.Contains(simArchs, o.simArch) {
		return fmt.Errorf("--sim-arch %q: there are %s", o.simArch, strings.Join(simArchs, ", "))
	}
	if err := checkLimits(o.limits, o.maxSessions); err != nil {
		return err
	}
	if o.park < 0 {
		return fmt.Errorf("--park %v is less than 0", o.park)
	}
	if err := errors.Join(o.listen.check(), o.who.check()); err != nil {
		return err
	}
	switch {
	case (o.tls.Cert == "") != (o.tls.Key == ""), o.tls.ClientCA != "" && o.tls.Cert == "":
		return fmt.Errorf("--tls-cert and --tls-key go together, and --tls-client-ca needs both")
	case o.tls.Cert != "" && o.listen.address == "":
		return fmt.Errorf("--tls-cert is for a network address, and none is listened on")
	}
	if o.portFile != "" && o.listen.address == "" {
		return fmt.Errorf("--port-file, and no port is listened on")
	}
	if o.kubelet, err = attribution.ParseKubelet(o.words.kubelet); err != nil {
		return fmt.Errorf("--kubelet-socket: %w", err)
	}
	if o.quota, err = access.ParseQuota(o.words.sessionMemory, o.words.sessionCompute); err != nil {
		return fmt.Errorf("--session-%w", err)
	}
	if o.hostMemory, err = access.ParseSize(o.words.hostMemory); err != nil || o.words.hostMemory != "" && o.hostMemory < hostmem.Least {
		return fmt.Errorf("--session-host-memory %q: a size of at least %dM", o.words.hostMemory, hostmem.Least>>20)
	}
	if o.simMemory, err = access.ParseSize(o.words.memory); err != nil {
		return fmt.Errorf("--sim-memory %q: %w", o.words.memory, err)
	}
	if err := o.watch.Check(); err != nil {
		return err
	}
	o.service.Listen, o.service.Flag, o.service.Insecure = o.metrics, "--metrics-addr", o.insecure
	if o.exports() {
		if err := o.service.Check(); err != nil {
			return err
		}
	}
	return nil
}

// exports reports whether what the worker knows is served or sent anywhere.
func (o *options) exports() bool { return o.metrics != "" || o.service.Sends() }
