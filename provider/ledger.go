package provider

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// ledger is which parts of the cards are assigned. It is kept in a file (ledgerfile.go),
// because partitions outlive the host: one that was started anew takes back what an earlier
// one has assigned.
type ledger struct {
	changing sync.Mutex // held while cards are divided and parts given and taken

	mu      sync.Mutex
	file    string // "" is none: the ledger lasts as long as the process
	loaded  bool
	log     *slog.Logger
	list    []assignment
	before  map[string]string // how a card was divided before it was divided here
	refused map[string]bool   // cards that may not be divided
}

// assignment is one part that somebody has.
type assignment struct {
	uuid, card, mode string
	part             int
	// inherited is one of an earlier host: whoever has it may be gone since, without this
	// host having been told.
	inherited bool
}

// add notes an assignment. It takes the place of an inherited one of the same part.
func (g *ledger) add(a assignment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(b assignment) bool { return b.card == a.card && b.part == a.part })
	g.list = append(g.list, a)
	g.save()
}

// prune forgets assignments of a card that was divided otherwise since, by somebody else or
// because the machine was started anew, as nothing is left of them.
func (g *ledger) prune(card, mode string) {
	if mode == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.list)
	g.list = slices.DeleteFunc(g.list, func(a assignment) bool { return a.card == card && a.mode != mode })
	_, was := g.before[card]
	if was && g.before[card] == mode {
		delete(g.before, card)
	} else if n == len(g.list) {
		return
	}
	g.save()
}

// at is who has a part of a card; nil if it is free.
func (g *ledger) at(card string, part int) *assignment {
	return g.first(func(a *assignment) bool { return a.card == card && a.part == part })
}

// find is the assignment of a partition's UUID.
func (g *ledger) find(uuid string) *assignment {
	return g.first(func(a *assignment) bool { return strings.EqualFold(a.uuid, uuid) })
}

func (g *ledger) first(is func(*assignment) bool) *assignment {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.list {
		if is(&g.list[i]) {
			a := g.list[i]
			return &a
		}
	}
	return nil
}

// of are the assignments of a card.
func (g *ledger) of(card string) (list []assignment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.list {
		if a.card == card {
			list = append(list, a)
		}
	}
	return list
}

// take takes an assignment of a card back: that of a partition's UUID, else the youngest
// of a template's name; nil if there is none.
func (g *ledger) take(card, id string) *assignment {
	mode, _, _ := template(id)
	g.mu.Lock()
	defer g.mu.Unlock()
	found := -1
	for i, a := range g.list {
		if a.card != card {
			continue
		}
		if strings.EqualFold(a.uuid, id) {
			found = i
			break
		}
		if a.mode == mode && !strings.HasPrefix(strings.ToLower(id), card) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	a := g.list[found]
	g.list = append(g.list[:found], g.list[found+1:]...)
	g.save()
	return &a
}

// divided notes how a card was divided before, and whether that was not known.
func (g *ledger) divided(card, before string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.before == nil {
		g.before = map[string]string{}
	}
	if _, ok := g.before[card]; ok || before == "" {
		return false
	}
	g.before[card] = before
	g.save()
	return true
}

// whole is how a card is to be divided that no part of is assigned any more; false if
// some are, or it was not divided here.
func (g *ledger) whole(card string) (before string, ok bool) {
	if len(g.of(card)) > 0 {
		return "", false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before, ok = g.before[card]
	return before, ok
}

// restored notes that a card is divided as it was.
func (g *ledger) restored(card string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.before, card)
	g.save()
}

// refuse notes that a card may not be divided.
func (g *ledger) refuse(card string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refused == nil {
		g.refused = map[string]bool{}
	}
	g.refused[card] = true
}

func (g *ledger) isRefused(card string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused[card]
}

// hint says what to do about assignments of a card that may be nobody's any more.
func (g *ledger) hint(card string) string {
	if g.first(func(a *assignment) bool { return a.card == card && a.inherited }) == nil {
		return ""
	}
	return fmt.Sprintf(", some by an earlier start of the host: if nobody has them any more, remove %s and start the host anew", g.file)
}
