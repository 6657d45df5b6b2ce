package fleet

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// ask asks a worker that tells this.
func ask(t *testing.T, opt smiremote.HandlerOptions) (*Report, error) {
	t.Helper()
	w := remotetest.Start(t, "", opt)
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr, Name: "test"})
	t.Cleanup(func() { _ = c.Close() })
	return Ask(t.Context(), c)
}

// sessions are clients of a worker.
type sessions []smi.Session

func (s sessions) Sessions() []smi.Session { return s }

// owned are cards of which one was given to a pod.
type owned struct{ *smitest.Fake }

func (owned) Owners() map[int][]smi.Owner {
	return map[int][]smi.Owner{0: {{Source: smi.OwnerKubelet, Namespace: "ml", Pod: "train-0", Container: "c"}}}
}

func TestAsk(t *testing.T) {
	cards := smitest.Machine(3, 0)
	for i := range cards {
		cards[i].ECC.BadPageLimit = smi.Some(uint32(2))
		cards[i].ECC.Uncorrectable = smi.Some(uint64(0))
		cards[i].Metrics.VRAM = smi.MemoryUse{Total: smi.Some(smi.MiB(100)), Used: smi.Some(smi.MiB(uint64(10 * i)))}
	}
	cards[1].Processes = []smi.Process{{Device: 1, PID: 7, Name: "python3"}, {Device: 1, PID: 8, Name: "python3"}}
	src := smitest.NewFake(cards...)
	src.SetDetails(smitest.Detail{BadPages: make([]smi.BadPage, 1)}, smitest.Detail{BadPages: make([]smi.BadPage, 2)}) // the third does not know
	r, err := ask(t, smiremote.HandlerOptions{Source: owned{src}, Version: "v1.2.3", Backend: "sim", Sessions: sessions{
		{ID: "1", Client: smi.Client{Address: "10.0.0.9:1", User: "eva", Host: "desk"}}, {ID: "2", Client: smi.Client{Address: "10.0.0.9:2"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Server.Version != "v1.2.3" || r.Server.Backend != "sim" || len(r.Cards) != 3 || len(r.Sessions) != 2 || r.SessionsErr != nil {
		t.Errorf("%+v", r)
	}
	var kinds []string
	for i := range r.Cards {
		kinds = append(kinds, "|")
		for _, x := range r.Cards[i].Troubles {
			kinds = append(kinds, x.Kind)
		}
	}
	if want := []string{"|", "|", BadPages, "|"}; !slices.Equal(kinds, want) || r.Healthy() {
		t.Errorf("troubles %q, want %q; healthy: %v", kinds, want, r.Healthy())
	}
	if total, free := r.Memory(); total != smi.Some(smi.MiB(300)) || free != smi.Some(smi.MiB(270)) {
		t.Errorf("%v free of %v", free, total)
	}
	if got, want := r.Users(), []string{"10.0.0.9:2", "eva@desk", "ml/train-0", "python3"}; !slices.Equal(got, want) {
		t.Errorf("users %q, want %q", got, want)
	}
}

// What a worker does not tell of its clients is no error of the worker; what it does not tell of its cards is.
func TestAskErrors(t *testing.T) {
	r, err := ask(t, smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Machine(1, 0)...)})
	if err != nil || len(r.Cards) != 1 || r.Sessions != nil || !errors.Is(r.SessionsErr, smi.ErrNotSupported) {
		t.Errorf("%+v, %v", r, err)
	}
	ill := smitest.NewFake(smitest.Machine(1, 0)...)
	ill.Fail(smi.Errorf(smi.ErrUnavailable, "the driver is not loaded"))
	if r, err := ask(t, smiremote.HandlerOptions{Source: ill, Sessions: sessions{}}); r != nil || !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("%+v, %v", r, err)
	}
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Machine(1, 0)...), Sessions: sessions{}})
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr, Name: "test"})
	defer c.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Ask(gone, c); err == nil {
		t.Errorf("nobody waits, and there is %+v", r)
	}
}

func TestMemory(t *testing.T) {
	unknown := smi.Opt[smi.Bytes]{}
	mib := func(n uint64) smi.Opt[smi.Bytes] { return smi.Some(smi.MiB(n)) }
	info := &smi.Info{VRAM: smi.VRAMInfo{Size: mib(64)}}
	for _, c := range []struct {
		what        string
		card        smi.DeviceSnapshot
		total, free smi.Opt[smi.Bytes]
	}{
		{"nothing is known", smi.DeviceSnapshot{}, unknown, unknown},
		{"no figures", smi.DeviceSnapshot{Info: info}, mib(64), unknown},
		{"figures", smi.DeviceSnapshot{Metrics: &smi.Metrics{VRAM: smi.MemoryUse{Total: mib(60), Used: mib(20)}}, Info: info}, mib(60), mib(40)},
		{"what is used", smi.DeviceSnapshot{Metrics: &smi.Metrics{VRAM: smi.MemoryUse{Used: mib(20)}}, Info: info}, mib(64), mib(44)},
		{"more used than there is", smi.DeviceSnapshot{Metrics: &smi.Metrics{VRAM: smi.MemoryUse{Used: mib(99)}}, Info: info}, mib(64), mib(0)},
	} {
		k := Card{DeviceSnapshot: c.card}
		if total, free := k.Memory(); total != c.total || free != c.free {
			t.Errorf("%s: %v free of %v, want %v of %v", c.what, free, total, c.free, c.total)
		}
	}
	if total, free := new(Report).Memory(); total.Ok() || free.Ok() {
		t.Errorf("no cards have %v, %v free", total, free)
	}
}

func TestUsers(t *testing.T) {
	k := Card{DeviceSnapshot: smi.DeviceSnapshot{
		Owners: []smi.Owner{{Source: smi.OwnerSlurm, JobID: "12", JobUser: "eva"}},
		Processes: []smi.Process{
			{Client: &smi.Client{Namespace: "ml", Pod: "p", User: "x"}, User: "hip-session"}, {Client: &smi.Client{User: "eva", Job: "12", Host: "n1"}},
			{Client: &smi.Client{User: "max"}}, {Client: &smi.Client{Address: "10.0.0.1:9", Host: "nobody"}}, {Client: &smi.Client{}},
			{User: "root", Name: "a"}, {Name: "b"}, {},
		},
	}}
	if got, want := k.Users(), []string{"10.0.0.1:9", "b", "eva job 12", "max", "ml/p", "root"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
