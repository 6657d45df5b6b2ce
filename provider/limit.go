package provider

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// limit holds all processes that use a device through a rocwire worker to a quota.
// Nothing else can: AMD's driver knows no limits.
func (h *host) limit(ctx context.Context, l *library, uuid string, q smi.Quota) error {
	to := smi.LimiterOf(l.src)
	if to == nil {
		return smi.Errorf(smi.ErrNotSupported, "AMD's driver keeps nobody within limits: only a worker does")
	}
	rights, err := l.rights(ctx)
	if err != nil {
		return err
	}
	if !rights.Limit {
		return smi.Errorf(smi.ErrNotSupported, "the worker keeps its sessions within limits only if it was started with --smi-allow-set, and for who has the right to set them")
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
