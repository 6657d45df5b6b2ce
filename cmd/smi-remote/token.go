package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/smi"
)

func tokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Have tokens issued that let a job or a pod in", GroupID: groupChange, Args: cobra.ArbitraryArgs, RunE: cli.NoCommand,
		Long: "Have tokens issued that let a job or a pod in to some GPUs, for a time. A worker does\nthat only if it was started with --issued-tokens, and for those who have the right\n\"issue\".",
	}
	t, memory, compute, expires, file, gpus := smi.Token{}, "", "", 24*time.Hour, "", []string(nil)
	issue := &cobra.Command{
		Use: "issue ID", Short: "Have a token issued", Args: cli.Words(1, 1),
		Long:    "Has a token issued, by each of several workers for its GPUs. One that was issued\nbefore with the same ID is good no longer. --out gets the token; without it, it is\nprinted.",
		Example: "  smi-remote token issue job-42 --user alice --job 42 --gpu 0 --out job-42.token",
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.User == "" {
				return usagef("whose token? Give --user")
			}
			if expires <= 0 {
				return usagef("--expires %v is not more than 0", expires)
			}
			if len(gpus) == 0 {
				return usagef("for which GPUs? Give --gpu, or --gpu all")
			}
			if memory != "" || compute != "" {
				q, err := parseQuota(memory, compute)
				if err != nil {
					return err
				}
				t.Quota = q
			}
			t.ID, t.Expires = args[0], time.Now().Add(expires).Truncate(time.Second)
			return a.issueToken(cmd.Context(), t, gpus, file)
		},
	}
	f := issue.Flags()
	f.SortFlags = false
	f.StringVar(&t.User, "user", "", "`NAME` that its sessions are shown under")
	f.StringVar(&t.Job, "job", "", "`NUMBER` of the job in its batch system")
	f.StringVar(&t.Pod, "pod", "", "`NAME` of the pod, and with")
	f.StringVar(&t.Namespace, "namespace", "", "this its `NAMESPACE`")
	f.StringSliceVar(&gpus, "gpu", nil, "`GPU` it is for: number, PCI address, UUID or all;\nseveral with commas")
	f.StringVar(&memory, "memory", "", "device memory of all its sessions together, like 16G")
	f.StringVar(&compute, "compute", "", "share of the GPU's time, of all of them, like 50%")
	f.DurationVar(&expires, "expires", expires, "for how long it is good, a `TIME` such as 24h")
	f.StringVar(&file, "out", "", "`FILE` for the token, which is not there yet")
	list := &cobra.Command{
		Use: "list", Short: "The tokens that were issued", Args: cli.Words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listTokens(cmd.Context()) },
	}
	revoke := &cobra.Command{
		Use: "revoke ID...", Short: "Take tokens back, and end their sessions", Args: cli.Words(1, -1),
		RunE: func(cmd *cobra.Command, ids []string) error { return a.revokeTokens(cmd.Context(), ids) },
	}
	c.AddCommand(issue, list, revoke)
	return c
}

// issueToken has one token issued by all workers that have one of the cards.
func (a *app) issueToken(ctx context.Context, t smi.Token, gpus []string, file string) error {
	if len(gpus) == 1 && gpus[0] == all {
		gpus = nil
	}
	cards, p, err := a.cards(ctx, gpus, false)
	if err != nil {
		return err
	}
	if p.err() != nil || len(cards) == 0 {
		return errors.Join(p.err(), errNoGPU(len(cards)))
	}
	secret, digest := smi.NewTokenSecret()
	t.SHA256 = digest
	for i := range a.workers {
		w := a.workers[i]
		t.Cards = nil
		for j := range cards {
			if cards[j].worker == w {
				t.Cards = append(t.Cards, cards[j].Device.UUID)
			}
		}
		if t.Cards == nil {
			continue
		}
		if _, err := askOne(ctx, a, w, func(ctx context.Context, w *worker) ([]int, error) { return w.client.IssueToken(ctx, t) }); err != nil {
			p.add(w, nil, "token "+text.Clean(t.ID), err)
		}
	}
	if err := p.err(); err != nil { // a token that half of them know is of no use
		for _, w := range a.workers {
			_, _ = askOne(context.WithoutCancel(ctx), a, w, func(ctx context.Context, w *worker) (int, error) { return w.client.RevokeToken(ctx, t.ID) })
		}
		return err
	}
	if file == "" {
		_, err = fmt.Fprintln(&a.out, secret)
		return err
	}
	return cli.WriteSecret(file, secret+"\n")
}

// errNoGPU is nil if there are some.
func errNoGPU(n int) error {
	if n > 0 {
		return nil
	}
	return smi.Errorf(smi.ErrNotFound, "there is no GPU")
}

// tokenRow is one token of one worker.
type tokenRow struct {
	Host string `json:"host"`
	smi.Token
}

func (a *app) listTokens(ctx context.Context) error {
	answers, p, err := ask(ctx, a, "tokens", func(ctx context.Context, w *worker) ([]smi.Token, error) { return w.client.Tokens(ctx) })
	if err != nil {
		return err
	}
	var rows []tokenRow
	for _, r := range answers {
		for _, t := range r.value {
			rows = append(rows, tokenRow{r.worker.address(), t})
		}
	}
	return a.show(result{key: "tokens", rows: rows, p: p, table: func(w io.Writer) {
		t := a.tableOf(text.Column{Title: "TOKEN", Min: 12}, text.Column{Title: "USER", Min: 6}, text.Column{Title: "JOB"}, text.Column{Title: "GPUS", Right: true}, text.Column{Title: "EXPIRES"})
		for _, r := range answers {
			for i := range r.value {
				k := &r.value[i]
				job := text.Dash(k.Job)
				if k.Pod != "" {
					job = text.Clean(k.Namespace) + "/" + text.Clean(k.Pod)
				}
				a.row(t, r.worker, text.Dash(k.ID), text.Dash(k.User), job, fmt.Sprint(len(k.Cards)), k.Expires.Local().Format(time.DateTime))
			}
		}
		a.write(w, t, p, "No token has been issued.")
	}})
}

// revokeTokens takes tokens back on all workers that have issued them.
func (a *app) revokeTokens(ctx context.Context, ids []string) error {
	if err := a.open(); err != nil {
		return err
	}
	p := &problems{workers: len(a.workers)}
	for _, id := range ids {
		found, ended := false, 0
		var last error
		for _, w := range a.workers {
			n, err := askOne(ctx, a, w, func(ctx context.Context, w *worker) (int, error) { return w.client.RevokeToken(ctx, id) })
			ended += n
			switch {
			case ctx.Err() != nil:
				return errInterrupted
			case err == nil:
				found = true
			case errors.Is(err, smi.ErrNotFound):
				last = err
			default:
				p.add(w, nil, "token "+text.Clean(id), err)
				found = true
			}
		}
		if !found {
			p.add(a.workers[0], nil, "", last)
			continue
		}
		fmt.Fprintf(&a.out, "Token %s has been taken back; %s ended.\n", text.Clean(id), count(ended, "session"))
	}
	return p.err()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
