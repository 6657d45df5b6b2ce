package simgpu

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
)

// What becomes of a card shows where this process has to do with it: at the
// beginning of every call, and all the while a kernel runs. A process that does
// nothing with its cards needs to know nothing of them, and nothing watches for it.

// hangLook is how often work that does not get on looks whether it may.
const hangLook = 2 * time.Millisecond

// longestPause bounds a single pause of work that is slowed down.
const longestPause = 50 * time.Millisecond

// attend ends the device's context if its card was reset or does not answer.
//
// HIP's own runtime ends the process when the driver tells it of a reset ("HW
// Exception … GPU Hang") or of a lost card. A worker must not end, so here a reset is
// ErrorLaunchFailure and a card that is gone ErrorNoDevice, until DeviceReset.
func (d *device) attend() card.Condition {
	d.renew.Lock()
	defer d.renew.Unlock()
	c := d.meter.Condition()
	if (c.Gone || c.Resets != d.resets.Load()) && d.status() == hip.Success {
		if c.Gone {
			d.fail(d.null, hip.ErrorNoDevice, "the card does not answer any more")
		} else {
			d.fail(d.null, hip.ErrorLaunchFailure, "the card was reset: what was running and what it had in memory is lost")
		}
	}
	return c
}

// hold waits while the card's queues do not get on. It returns when they do, or ctx,
// the device's, has ended.
func (d *device) hold(ctx context.Context) card.Condition {
	c := d.attend()
	if !c.Hung {
		return c
	}
	t := time.NewTicker(hangLook)
	defer t.Stop()
	for c.Hung && ctx.Err() == nil {
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		c = d.attend()
	}
	return c
}

// pacer makes work take as long as it would on a card whose clock is lowered: after a
// stretch of work it pauses. The work begins when the pacer is made.
type pacer struct {
	d     *device
	ctx   context.Context
	begin time.Time
	from  atomic.Int64 // when, after begin, the present stretch of work began or the present pause ends
}

// turn is called now and then by work that is under way. What it returns, if
// anything, pauses: each of those who work calls it.
func (p *pacer) turn(now time.Time) (wait func()) {
	if p.d.meter.Well(p.d.resets.Load()) {
		p.from.Store(int64(now.Sub(p.begin)))
		return nil
	}
	return p.wait
}

// wait waits while the card hangs, and then for the share that its clock lacks.
func (p *pacer) wait() {
	from, now := p.from.Load(), int64(time.Since(p.begin))
	slower := p.d.hold(p.ctx).Slower
	if worked := now - from; worked > 0 {
		lacks := min(longestPause, time.Duration(float64(worked)*float64(slower)/float64(1000-slower)))
		p.from.CompareAndSwap(from, int64(time.Since(p.begin)+lacks)) // or somebody else has said how long the pause is
	}
	pause(p.ctx, time.Duration(p.from.Load())-time.Since(p.begin))
}

// pause waits, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// slowLink makes a copy between host and card that took so long take as long as it
// would over the link as it is. It returns the time with the wait.
func (d *device) slowLink(took time.Duration) time.Duration {
	link := d.meter.Condition().Link
	if link == 0 || took <= 0 {
		return took
	}
	wait := time.Duration(float64(took) * float64(link) / 16)
	t := time.NewTimer(min(wait, longestCopyWait))
	defer t.Stop()
	begin := time.Now()
	select {
	case <-t.C:
	case <-d.context().Done():
	}
	return took + time.Since(begin)
}

// longestCopyWait bounds what a slow link adds to one copy.
const longestCopyWait = 10 * time.Second
