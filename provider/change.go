package provider

import (
	"context"
	"fmt"
	"time"
)

// The host asks once what the cards are and can do, and again after hours. What has changed
// since is told in its log, which is the only way to reach it unasked: it looks again after
// its discovery interval, or when it is started anew.

// told is what the host knows of the cards.
type told struct {
	cards map[string]capabilities
	at    time.Time // when that was compared last
}

// recheck is how often what the host knows is compared with what is so.
const recheck = 30 * time.Second

// noteTold notes what the host is told.
func (h *host) noteTold(list []device) {
	h.known.Store(&told{cards: abilities(list), at: time.Now()})
}

func abilities(list []device) map[string]capabilities {
	m := make(map[string]capabilities, len(list))
	for i := range list {
		m[list[i].uuid] = list[i].capabilities
	}
	return m
}

// compare tells what has changed since the host was told, each change once. Of cards that
// cannot be asked now nothing is said.
func (h *host) compare(ctx context.Context, l *library) {
	was := h.known.Load()
	if was == nil || time.Since(was.at) < recheck || !h.known.CompareAndSwap(was, &told{was.cards, time.Now()}) {
		return
	}
	list, err := h.describe(ctx, l)
	if err != nil {
		return
	}
	is := abilities(list)
	for _, change := range changes(was.cards, is) {
		h.log.Warn("changed since the host has looked at the cards; it will when its discovery interval is over", "change", change)
	}
	h.known.Store(&told{is, time.Now()})
}

// changes are what is different, for people.
func changes(was, is map[string]capabilities) (list []string) {
	for uuid, now := range is {
		before, ok := was[uuid]
		switch {
		case !ok:
			list = append(list, uuid+" is there")
		case before.limits != now.limits:
			list = append(list, fmt.Sprintf("%s: hard isolation %v", uuid, now.limits))
		case before != now:
			list = append(list, fmt.Sprintf("%s: partitioning %v, %d partitions at most", uuid, now.partitioning, now.maxPartitions))
		}
	}
	for uuid := range was {
		if _, ok := is[uuid]; !ok {
			list = append(list, uuid+" is gone")
		}
	}
	return list
}
