package provider

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// limit holds all processes that use a device through a rocwire worker to a quota.
// Nothing else can: AMD's driver knows no limits.
func (h *host) limit(ctx context.Context, l *library, uuid string, q smi.Quota) error {
	to := smi.LimiterOf(l.src)
	if to == nil || !l.rights(ctx).Limit {
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
