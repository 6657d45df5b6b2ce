package exporter

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// owned is a source that knows whom its cards were given to.
type owned struct {
	*smitest.Fake
	owners map[int][]smi.Owner
}

var someOwners = map[int][]smi.Owner{0: {
	{Source: smi.OwnerKubelet, Pod: "train-0", Namespace: "ml", Container: "main"},
	{Source: smi.OwnerSlurm, JobID: "42", JobUser: "ada", JobPartition: "gpu"},
}}

func (o *owned) Owners() map[int][]smi.Owner { return o.owners }

func TestOwners(t *testing.T) {
	src := &owned{Fake: smitest.NewFake(compatCards()...)}
	a, j := someOwners[0][0], someOwners[0][1]
	b := smi.Owner{Source: smi.OwnerKubelet, Pod: "serve-0", Namespace: "ml", Container: "main"}
	src.owners = map[int][]smi.Owner{0: {a, j}, 7: {b}}
	e := start(t, Options{Source: src, Compat: collector.CompatDME, CompatOwners: true})
	e.Poll(t.Context())
	labels := regexp.MustCompile(`(?m)^gpu_package_power\{(.*gpu_id="0".*)\}`)
	text := e.metrics(t)
	for _, series := range []string{
		`gpu_allocation_info{container="main",gpu="0",job_id="",job_partition="",job_user="",namespace="ml",pod="train-0",source="kubelet"}`,
		`gpu_allocation_info{container="",gpu="0",job_id="42",job_partition="gpu",job_user="ada",namespace="",pod="",source="slurm"}`,
	} {
		if value(text, series) != "1" {
			t.Errorf("there is no %s", series)
		}
	}
	if n := strings.Count(text, "\ngpu_allocation_info{"); n != 2 {
		t.Errorf("%d owners: those of a card that is none are not shown", n)
	}
	has := func(when, text string, labelled ...string) {
		t.Helper()
		m := labels.FindStringSubmatch(text)
		for _, l := range labelled {
			if m == nil || !strings.Contains(m[1], l) {
				t.Errorf("%s: %q lacks %s", when, m, l)
			}
		}
	}
	has("one of each", text, `pod="train-0"`, `namespace="ml"`, `container="main"`, `job_id="42"`, `job_user="ada"`, `job_partition="gpu"`)
	src.owners = map[int][]smi.Owner{0: {a, b, j}}
	e.Poll(t.Context())
	has("two containers", e.metrics(t), `pod=""`, `namespace=""`, `container=""`, `job_id="42"`)

	without := start(t, Options{Source: src, Compat: collector.CompatDME})
	without.Poll(t.Context())
	has("nobody asked for it", without.metrics(t), `pod=""`, `job_id=""`)
}

// An exporter on another machine than the worker's knows owners, too: the worker tells them.
func TestOwnersFromAfar(t *testing.T) {
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: &owned{Fake: smitest.NewFake(compatCards()...), owners: someOwners}})
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr, ConnectTimeout: time.Minute, IOTimeout: time.Minute})
	t.Cleanup(func() { _ = c.Close() })
	e := start(t, Options{Source: c, Compat: collector.CompatDME, CompatOwners: true})
	e.Poll(t.Context())
	text := e.metrics(t)
	if s := `gpu_allocation_info{container="main",gpu="0",job_id="",job_partition="",job_user="",namespace="ml",pod="train-0",source="kubelet"}`; value(text, s) != "1" {
		t.Errorf("there is no %s", s)
	}
	if !regexp.MustCompile(`(?m)^gpu_package_power\{.*job_id="42".*pod="train-0"`).MatchString(text) {
		t.Error("AMD's names lack the owners' labels")
	}
}

// A card that does not answer any more was still given to somebody, who is asked for then. What is known of that on this machine is of now; what a worker told
// that is gone is told with its age. The card's series of health is the same as before.
func TestOwnersOfSilentCard(t *testing.T) {
	const info, stale = `gpu_allocation_info{container="main",gpu="0",job_id="",job_partition="",job_user="",namespace="ml",pod="%s",source="kubelet"}`, `gpu_allocation_stale_seconds{gpu="0"}`
	health := regexp.MustCompile(`(?m)^gpu_health\{.*gpu_id="0".*\}`)
	options := Options{Compat: collector.CompatDME, CompatOwners: true, Timeout: 500 * time.Millisecond}

	src := &owned{Fake: smitest.NewFake(compatCards()...), owners: someOwners}
	options.Source = src
	e := start(t, options)
	e.Poll(t.Context())
	before := e.metrics(t)
	release := src.Hang(0)
	defer release()
	for range 3 {
		e.clock.advance(20 * time.Second)
		e.Poll(t.Context())
	}
	silent := e.metrics(t)
	if value(silent, `gpu_up{gpu="0"}`) != "0" || value(silent, fmt.Sprintf(info, "train-0")) != "1" || value(silent, stale) != "0" {
		t.Errorf("here, of a card that hangs:\n%s", silent)
	}
	if a, b := health.FindString(before), health.FindString(silent); a == "" || a != b {
		t.Errorf("its health was %s, and is %s", a, b)
	}
	src.owners = map[int][]smi.Owner{0: {{Source: smi.OwnerKubelet, Pod: "serve-0", Namespace: "ml", Container: "main"}}}
	if s := e.metrics(t); value(s, fmt.Sprintf(info, "serve-0")) != "1" || value(s, fmt.Sprintf(info, "train-0")) != "" {
		t.Errorf("another owner of a card that hangs:\n%s", s)
	}

	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: &owned{Fake: smitest.NewFake(compatCards()...), owners: someOwners}})
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr, ConnectTimeout: time.Minute, IOTimeout: time.Minute})
	t.Cleanup(func() { _ = c.Close() })
	options.Source, options.Timeout = c, time.Minute
	e = start(t, options)
	e.Poll(t.Context())
	before = e.metrics(t)
	if value(before, stale) != "0" {
		t.Errorf("as a worker tells it:\n%s", before)
	}
	w.Stop()
	e.clock.advance(time.Minute)
	silent = e.metrics(t)
	if value(silent, `gpu_up{gpu="0"}`) != "0" || value(silent, fmt.Sprintf(info, "train-0")) != "1" || value(silent, stale) != "60" {
		t.Errorf("a worker is gone:\n%s", silent)
	}
}

// healthWith is gpu_health of a card with these thresholds.
func healthWith(t *testing.T, card smi.DeviceSnapshot, set string) string {
	t.Helper()
	src := smitest.NewFake(card)
	src.SetDetails(fullDetail())
	o := Options{Source: src, Compat: collector.CompatDME}
	if err := o.Health.Set(set); err != nil {
		t.Fatal(err)
	}
	e := start(t, o)
	e.Poll(t.Context())
	m := regexp.MustCompile(`(?m)^gpu_health\{.*gpu_id="0".*\} (\S+)$`).FindStringSubmatch(e.metrics(t))
	if m == nil {
		return ""
	}
	return m[1]
}

func TestHealthThresholds(t *testing.T) {
	card := compatCards()[0]
	card.ECC = card.ECC.Clone()
	card.ECC.Uncorrectable = smi.Some(uint64(3))
	for i := range card.ECC.Blocks {
		if b := &card.ECC.Blocks[i]; b.Block == "umc" {
			b.Uncorrectable = smi.Some(uint64(2))
		}
	}
	card.ECC.BadPageLimit = smi.Some(uint32(2)) // it has two
	parts := card
	parts.ECC = card.ECC.Clone()
	parts.ECC.Uncorrectable = smi.Opt[uint64]{}
	for set, want := range map[string]string{
		"uncorrectable=3":                   "0", // its own limit of bad pages
		"bad-pages=2":                       "0", // an error
		"uncorrectable=3,bad-pages=2":       "1",
		"uncorrectable=3,bad-pages=1":       "0",
		"uncorrectable=2,bad-pages=9":       "0",
		"uncorrectable=1,umc=2,bad-pages=9": "1", // one is of no part that has its own
		"uncorrectable=9,umc=1,bad-pages=9": "0",
		"uncorrectable=0,umc=2,bad-pages=9": "0",
	} {
		if got := healthWith(t, card, set); got != want {
			t.Errorf("%s: health %q, want %s", set, got, want)
		}
	}
	for set, want := range map[string]string{"bad-pages=2": "0", "uncorrectable=1,bad-pages=2": "0", "uncorrectable=2,bad-pages=2": "1", "umc=2,bad-pages=2": "1"} {
		if got := healthWith(t, parts, set); got != want {
			t.Errorf("%s, a card without a total: health %q, want %s", set, got, want)
		}
	}
	for _, wrong := range []string{"", "umc", "umc=-1", "umc=x", "moon=1", "umc=1,", "umc=99999999999"} {
		var h collector.Thresholds
		if err := h.Set(wrong); err == nil {
			t.Errorf("%q is taken for thresholds", wrong)
		} else if h.String() != "" {
			t.Errorf("%q left %q", wrong, &h)
		}
	}
}
