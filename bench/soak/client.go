package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hipremote"
)

// client is the process of some clients, which ends when its standard input does. Its lines are a word (ok; refused, for want of a place; opening: it did not get in; lost; wrong) and what
// there is to say.
func client(args []string) error {
	if len(args) != 4 {
		return errors.New("client NUMBER SEED PROGRAMS PAUSE")
	}
	n, err1 := strconv.Atoi(args[0])
	seed, err2 := strconv.ParseUint(args[1], 10, 64)
	programs, err3 := strconv.Atoi(args[2])
	pause, err4 := time.ParseDuration(args[3])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for rng := rand.New(rand.NewPCG(seed, uint64(i))); !stop.Load(); {
				session(rng, programs, pause, &stop)
			}
		})
	}
	wg.Wait()
	return nil
}

var say sync.Mutex

func report(word, what string, err error) {
	say.Lock()
	defer say.Unlock()
	fmt.Printf("%s %s: %q\n", word, what, fmt.Sprint(err))
}

// refused reports whether the worker had no place and said so.
func refused(mu *sync.Mutex, log *[]string) bool {
	mu.Lock()
	defer mu.Unlock()
	return strings.Contains(strings.Join(*log, " "), "try again later")
}

// session connects, runs some programs, and leaves.
func session(rng *rand.Rand, most int, pause time.Duration, stop *atomic.Bool) {
	cfg := hipremote.AllFromEnv(os.LookupEnv)[0] // there is one
	cfg.NoReserve = rng.IntN(4) == 0
	var log []string
	var mu sync.Mutex
	cfg.Logf = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf(format, args...))
	}
	c := hipremote.New(cfg)
	defer func() { _ = c.Close() }()
	word := "opening" // a cut before there is a session is no more than a failed connection
	for i := range 1 + rng.IntN(most) {
		p := programs[0]
		if i > 0 {
			p = programs[rng.IntN(len(programs))]
		}
		err := p.run(c, rng)
		switch {
		case err == nil:
			report("ok", p.name, nil)
		case errors.Is(err, errWrong):
			report("wrong", p.name, err)
		case word == "opening" && refused(&mu, &log):
			report("refused", p.name, nil)
			time.Sleep(100*time.Millisecond + rand.N(time.Second)) // as it was told
			return
		default:
			mu.Lock()
			report(word, p.name, fmt.Errorf("%w %q", err, log))
			mu.Unlock()
			time.Sleep(rand.N(time.Second)) // rather than all at once
			return
		}
		if stop.Load() {
			return
		}
		word = "lost"
		if pause > 0 {
			time.Sleep(rand.N(pause))
		}
	}
}
