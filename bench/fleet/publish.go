package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rocwire/rocwire/internal/fleet"
)

// What is measured of rocwire-dra publish.
const (
	publishing = "rocwire-dra publish: all slices of a new fleet"
	looking    = "rocwire-dra publish: each look, nothing has changed"
	changing   = "rocwire-dra publish: a card has a trouble"
)

// driver is rocwire-dra's name.
const driver = "rocwire.io"

// beside is a program that is not measured for itself.
type beside struct {
	process
	name string
}

// publish measures what it costs to have the cards in a cluster.
func (b *bench) publish(ctx context.Context, n int) (err error) {
	config, err := clientcmd.BuildConfigFromFlags("", b.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	s, err := watchSlices(ctx, client)
	if err != nil {
		return err
	}
	defer s.stop()
	begin, done := time.Now(), b.around()
	asked, err := b.workers.processor()
	if err != nil {
		return err
	}
	p, err := b.start(ctx, func([]byte) {}, "rocwire-dra", "publish", "--kubeconfig", b.kubeconfig, "--workers", b.file, "--interval", b.interval.String(), "--timeout", b.patience.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end(), s.clear(context.WithoutCancel(ctx), client)) }()
	// phase adds a row of what has happened since the last one.
	var before int64
	phase := func(subject string, divide int, note string) error {
		used, err := p.processor()
		now, err1 := b.workers.processor()
		if err = errors.Join(err, err1); err != nil {
			return fmt.Errorf("%w: %s", err, p.tail())
		}
		d := time.Duration(divide)
		b.add(row{
			subject: subject, workers: n, time: time.Since(begin) / d, processor: (used - time.Duration(before)) / d, asked: (now - asked) / d, memory: p.resident(),
			bytes: s.size(), note: note, // as much as etcd has of it
		})
		done(n, subject, divide)
		begin, before, asked, done = time.Now(), int64(used), now, b.around()
		return nil
	}
	if err := s.wait(ctx, p, b.patience, func() bool { return len(s.slices) == n }); err != nil {
		return fmt.Errorf("%d slices: %w", n, err)
	}
	_, note := s.written()
	if err := phase(publishing, 1, note); err != nil {
		return err
	}
	const times = 3
	if err := b.read(ctx, uint64(times*n*cardsOf)); err != nil {
		return err
	}
	_, note = s.written()
	if err := phase(looking, times, note); err != nil {
		return err
	}
	if _, err := b.workers.tell(request{Ill: new(true)}); err != nil {
		return err
	}
	if err := s.wait(ctx, p, b.patience, func() bool { return s.count(func(x *slice) int { return x.ill }) == 1 }); err != nil {
		return fmt.Errorf("a card has a trouble: %w", err)
	}
	if err := b.read(ctx, uint64(2*n*cardsOf)); err != nil { // so that the look is over, and all that it writes is written
		return err
	}
	written, note := s.written()
	if err := phase(changing, 1, fmt.Sprintf("with two looks more; of %d slices %s", n, note)); err != nil {
		return err
	}
	if written > 1 {
		b.limit(changing, n, "%d slices are written, for one card", written)
	}
	if _, err := b.workers.tell(request{Ill: new(false)}); err != nil {
		return err
	}
	return b.claim(ctx, client, n)
}

// around starts to measure what is beside; the function adds rows of it, divided.
func (b *bench) around() func(workers int, subject string, divide int) {
	was := make([]time.Duration, len(b.beside))
	for i, p := range b.beside {
		was[i], _ = p.processor() // of one that is gone nothing is told
	}
	return func(workers int, subject string, divide int) {
		for i, p := range b.beside {
			if now, err := p.processor(); err == nil {
				b.add(row{subject: subject + " … " + p.name, workers: workers, processor: (now - was[i]) / time.Duration(divide), memory: p.resident()})
			}
		}
	}
}

// published are the cluster's, of our driver, as they change.
type published struct {
	stop func()

	mu           sync.Mutex
	changed      chan struct{}    // closed at the next change
	slices       map[string]slice // by name
	writes, late int              // since they were told; late: of cards that were late with their figures, or answered again
	lost         error
}

// slice is what is of interest of one.
type slice struct {
	size int  // as it lies in etcd
	ill  int  // cards that say that something is wrong with them
	late bool // there is a card that has not answered in time
}

var ours = metav1.ListOptions{FieldSelector: resourceapi.ResourceSliceSelectorDriver + "=" + driver}

// watchSlices starts to watch; there must be none.
func watchSlices(ctx context.Context, client kubernetes.Interface) (*published, error) {
	api := client.ResourceV1().ResourceSlices()
	list, err := api.List(ctx, ours)
	if err != nil {
		return nil, err
	}
	if len(list.Items) > 0 {
		return nil, fmt.Errorf("the cluster has ResourceSlices of %s: this is for one that nobody uses", driver)
	}
	o := ours
	o.ResourceVersion = list.ResourceVersion
	w, err := api.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &published{stop: w.Stop, changed: make(chan struct{}), slices: map[string]slice{}}
	go func() {
		for e := range w.ResultChan() {
			s.see(e)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost = errors.New("the API server has ended the watch")
		close(s.changed)
	}()
	return s, nil
}

func (s *published) see(e watch.Event) {
	x, ok := e.Object.(*resourceapi.ResourceSlice)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.slices[x.Name]
	delete(s.slices, x.Name)
	if e.Type != watch.Deleted {
		text, _ := x.Marshal()
		now := slice{size: len(text)}
		for i := range x.Spec.Devices {
			for _, t := range x.Spec.Devices[i].Taints {
				if t.Key == driver+"/"+fleet.Uncorrectable {
					now.ill++
				} else {
					now.late = true
				}
			}
		}
		s.slices[x.Name] = now
		if s.writes++; now.ill == was.ill && (was.late || now.late) {
			s.late++
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// written says how many were written since the last time because something had changed. Where processors are short a card is late with its figures, which
// is written too: the note says that.
func (s *published) written() (n int, note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.writes - s.late
	if note = fmt.Sprintf("%d written", n); s.late > 0 {
		note += fmt.Sprintf(", and %d times one with a card that was late with its figures, having too little of the processors", s.late)
	}
	s.writes, s.late = 0, 0
	return n, note
}

// count adds up what there is of something in all; the lock is held.
func (s *published) count(of func(*slice) int) (sum int) {
	for _, x := range s.slices {
		sum += of(&x)
	}
	return sum
}

// size is that of all together.
func (s *published) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.count(func(x *slice) int { return x.size }))
}

// wait waits until something is so, which is asked with the lock held; p is who makes it so.
func (s *published) wait(ctx context.Context, p *program, patience time.Duration, so func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("nobody has patience any more"))
	defer cancel()
	for {
		s.mu.Lock()
		yes, lost, changed, have := so(), s.lost, s.changed, len(s.slices)
		s.mu.Unlock()
		switch {
		case yes:
			return nil
		case lost != nil:
			return lost
		}
		select {
		case <-changed:
		case err := <-p.done:
			p.done <- err
			return fmt.Errorf("rocwire-dra has ended: %w: %s", err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%w with %d slices: %s", context.Cause(ctx), have, p.tail())
		}
	}
}

// clear deletes all.
func (s *published) clear(ctx context.Context, client kubernetes.Interface) error {
	return client.ResourceV1().ResourceSlices().DeleteCollection(ctx, metav1.DeleteOptions{}, ours)
}
