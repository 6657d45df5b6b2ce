package dra

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How long a claim's tokens are good, and when they are made good for as long again: a driver that is away for the time in between keeps no program from
// beginning, and what nobody takes back ends by itself.
const (
	tokenTime = 7 * 24 * time.Hour
	renewAt   = 6 * 24 * time.Hour // before they expire
)

// keepPeriod is how often Keep looks.
const keepPeriod = 15 * time.Second

// Keep renews the tokens of claims that last, and takes back those that could not be when their claims ended, until ctx is done.
func (n *Node) Keep(ctx context.Context) {
	t := time.NewTicker(keepPeriod)
	defer t.Stop()
	said := ""
	for {
		now := ""
		if err := errors.Join(n.settle(ctx, nil), n.renewAll(ctx, time.Now())); err != nil {
			now = err.Error()
		}
		if now != said && now != "" && ctx.Err() == nil {
			n.Log.Warn("tokens are not taken back or renewed yet", "reason", now)
		}
		said = now
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// renewAll renews what is due.
func (n *Node) renewAll(ctx context.Context, now time.Time) error {
	list, err := n.claims()
	errs := []error{err}
	for _, uid := range list {
		if err := n.renew(ctx, uid, now); err != nil {
			errs = append(errs, fmt.Errorf("claim %s: %w", uid, err))
		}
	}
	return errors.Join(errs...)
}

// renew makes a claim's tokens good for longer. Those of a claim that is no more, of which the kubelet has not told us, are taken back.
func (n *Node) renew(ctx context.Context, uid types.UID, now time.Time) error {
	n.mu.Lock()
	c, err := n.load(uid)
	n.mu.Unlock()
	if err != nil || c == nil || !c.Ready {
		return err
	}
	due := false
	for i := range c.Grants {
		due = due || c.Grants[i].Token.Expires.Sub(now) < renewAt
	}
	if !due {
		return nil
	}
	claim, err := n.Client.ResourceV1().ResourceClaims(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && claim.UID != uid:
		n.Log.Warn("a claim is gone and was never taken back", "namespace", c.Namespace, "claim", c.Name)
		return n.unprepare(ctx, uid)
	case err != nil:
		return err
	}
	for i := range c.Grants {
		c.Grants[i].Token.Expires = now.Add(tokenTime).Truncate(time.Second)
	}
	members, err := n.members(ctx, c)
	if err != nil {
		return err
	}
	defer closeAll(members)
	issued := make([]bool, len(members))
	err = n.each(ctx, members, func(ctx context.Context, i int, m *member) error {
		_, err := m.client.IssueToken(ctx, m.grant.Token)
		issued[i] = err == nil
		return err
	})
	// Meanwhile the claim may have ended: what was issued then is taken back.
	n.mu.Lock()
	defer n.mu.Unlock()
	latest, failed := n.load(uid)
	if err = errors.Join(err, failed); failed != nil {
		return err
	}
	for i, ok := range issued {
		switch {
		case !ok:
		case latest != nil && i < len(latest.Grants) && latest.Grants[i].Token.ID == c.Grants[i].Token.ID:
			latest.Grants[i].Token.Expires = c.Grants[i].Token.Expires
		default:
			err = errors.Join(err, n.noteRevocation(&c.Grants[i]))
		}
	}
	if latest == nil {
		return err
	}
	return errors.Join(err, n.save(latest))
}
