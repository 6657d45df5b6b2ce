package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/smi"
)

// unlimited is the word that lifts a quota.
const unlimited = "none"

func quotaCommand(a *app) *cobra.Command {
	var memory, compute, session string
	c := &cobra.Command{
		Use: "quota GPU", Short: "Limit what sessions may have of a GPU", Args: cli.Words(1, 1), ValidArgsFunction: a.completeThen(nil),
		Long: "Limit what sessions may have of a GPU: memory, beyond which allocations fail, and a\n" +
			"share of its time, beyond which kernels are delayed. It is for all sessions and those\n" +
			"to come, or for one. What a session has already is not taken away.",
		Example: "  smi-remote set quota 0 --memory 16G --compute 50%\n  smi-remote set quota all --session 12 --memory none",
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := parseQuota(memory, compute)
			if err != nil {
				return err
			}
			return a.setQuota(cmd.Context(), args[0], session, q)
		},
	}
	c.Flags().StringVar(&memory, "memory", "", "of each session, like 16G; none lifts the limit")
	c.Flags().StringVar(&compute, "compute", "", "share of the GPU's time, like 50%; none lifts the limit")
	c.Flags().StringVar(&session, "session", "", "only this session, as smi-remote sessions numbers it")
	return c
}

func parseQuota(memory, compute string) (q smi.Quota, err error) {
	if memory == "" && compute == "" {
		return q, usagef("a quota of what? Give --memory, --compute or both")
	}
	if memory != "" {
		n := 0.0
		if memory != unlimited {
			units := map[string]float64{"": 1}
			for i, u := range []string{"k", "m", "g", "t"} {
				f := float64(uint64(1) << (10 * (i + 1)))
				units[u], units[u+"b"], units[u+"ib"] = f, f, f
			}
			if n, err = number(memory, "amount of memory, like 16G or none", units); err != nil {
				return q, err
			}
			if n < 1 || n >= 1<<63 {
				return q, usagef("%q is no amount of memory, like 16G or none", memory)
			}
		}
		q.Memory = smi.Some(smi.Bytes(n))
	}
	if compute != "" {
		f := 0.0
		if compute != unlimited {
			if f, err = number(compute, "share, like 50% or none", map[string]float64{"%": 0.01}); err != nil {
				return q, err
			}
			if f <= 0 || f > 1 {
				return q, usagef("%q is not more than 0%% and at most 100%%", compute)
			}
		}
		q.Compute = smi.Some(smi.Ratio(f))
	}
	return q, nil
}

// setQuota sets one quota of the cards that word means.
func (a *app) setQuota(ctx context.Context, word, session string, q smi.Quota) error {
	cards, p, err := a.target(ctx, word)
	if err != nil {
		return err
	}
	whose := "all sessions"
	if session != "" {
		whose = "session " + text.Clean(session)
	}
	return a.change(ctx, cards, p, "quota of "+whose+": "+quotaText(q), func(ctx context.Context, c *card) error {
		return c.client.SetQuota(ctx, c.Device.Index, session, q)
	})
}

// quotaText says a quota in words.
func quotaText(q smi.Quota) string {
	var s []string
	if n, ok := q.Memory.Get(); ok && n > 0 {
		s = append(s, text.Bytes(q.Memory))
	} else if ok {
		s = append(s, "any memory")
	}
	if f, ok := q.Compute.Get(); ok && f > 0 && f < 1 {
		s = append(s, fmt.Sprintf("%.3g%% of the time", float64(f)*100))
	} else if ok {
		s = append(s, "any time")
	}
	return strings.Join(s, ", ")
}

// quotasText says what a session may have.
func quotasText(s *smi.Session) string {
	var list []string
	for _, q := range s.Quotas {
		text := fmt.Sprintf("GPU %d: %s", q.Device, quotaText(q.Quota))
		if q.Together != "" {
			text += " (all of " + q.Together + ")"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return ""
	}
	return "at most " + strings.Join(list, "; ")
}
