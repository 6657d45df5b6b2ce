package provider

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// limit holds all processes that use a device through a rocwire worker to a quota.
// Nothing else can: AMD's driver knows no limits.
func (h *host) limit(ctx context.Context, l *library, uuid string, q smi.Quota) error {
	to := smi.LimiterOf(l.src)
	if to == nil || !l.mayLimit(ctx) {
		return smi.Errorf(smi.ErrNotSupported, "only a worker that was started with --smi-allow-set keeps its sessions within limits")
	}
	cards, _, err := l.cards(ctx)
	if err != nil {
		return err
	}
	d := h.deviceOf(l, cards, uuid)
	if d == nil {
		return smi.Errorf(smi.ErrNotFound, "there is no device %q", uuid)
	}
	return to.SetQuota(ctx, d.Device.Index, "", q)
}

// mayLimit reports whether limits are kept, as far as that is known.
func (l *library) mayLimit(ctx context.Context) bool {
	if l.origin.MayLimit == nil {
		return false
	}
	ok, err := l.limits.get(ctx, l.ctx, 30*time.Second, l.origin.MayLimit)
	return ok && err == nil
}
