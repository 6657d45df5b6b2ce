package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// Where a node keeps what it needs.
const (
	DefaultLayout = "/etc/rocwire/slurm.yaml"
	DefaultConfig = "/etc/rocwire/config.yaml" // how workers are connected to, and the issuer's token
	DefaultState  = "/run/rocwire/slurm"
)

// Node lets jobs in on the workers whose cards they have been given.
type Node struct {
	Layout string // file; empty: DefaultLayout
	State  string // folder for jobs that run; empty: DefaultState
	// Getenv reads the environment for how workers are connected to. Where it names no configuration file, DefaultConfig is it.
	Getenv  func(string) string
	Timeout time.Duration // of each worker; 0: 10 s
	Now     func() time.Time
}

// Times of a job's token.
const (
	tokenAfter   = time.Hour           // that it is good for after the job's end: Slurm lets jobs end late
	tokenForever = 30 * 24 * time.Hour // of a job whose end nobody knows
)

// given is what a job has been given: root's notes.
type given struct {
	Layout  []string    `json:"layout"`  // the workers' names there
	Workers []string    `json:"workers"` // the same in the job's configuration file
	Cards   map[int]int `json:"cards"`   // HIP's number of each of Slurm's
}

func (n *Node) defaults() {
	if n.Layout == "" {
		n.Layout = DefaultLayout
	}
	if n.State == "" {
		n.State = DefaultState
	}
	if n.Timeout == 0 {
		n.Timeout = 10 * time.Second
	}
	if n.Now == nil {
		n.Now = time.Now
	}
}

// getenv is Getenv, with the usual configuration file.
func (n *Node) getenv(name string) string {
	v := n.Getenv(name)
	if name == dialing.FileVariable && v == "" {
		if _, err := os.Stat(DefaultConfig); err == nil {
			return DefaultConfig
		}
	}
	return v
}

// folder is the job's, for its user to read.
func (n *Node) folder(j *Job) string { return filepath.Join(n.State, j.Node, j.ID) }

// share is what a job has on one worker.
type share struct {
	name   string // in the layout
	worker dialing.Worker
	client *smiremote.Client
	slurm  []int    // numbers of the cards in Slurm
	cards  []string // their UUIDs
	places []int    // how many-th they are on the worker
	quota  smi.Quota
}

// Prolog lets a job in where it has cards, and writes what its tasks need into its folder. What was left there of an earlier job is ended. An error leaves
// nothing behind: Slurm takes the node out of service and begins the job elsewhere.
func (n *Node) Prolog(ctx context.Context, j *Job) (err error) {
	n.defaults()
	if len(j.Cards) == 0 {
		return nil
	}
	shares, err := n.shares(ctx, j)
	if err != nil {
		return err
	}
	secret, digest := smi.NewTokenSecret()
	t := smi.Token{ID: j.token(), SHA256: digest, User: j.User, Job: j.ID, Expires: n.Now().Add(tokenForever).Truncate(time.Second)}
	if !j.End.IsZero() && j.End.Sub(n.Now()) < smi.MaxTokenTime-2*tokenAfter {
		t.Expires = j.End.Add(tokenAfter)
	}
	defer func() {
		if err != nil {
			_ = n.each(context.WithoutCancel(ctx), shares, func(ctx context.Context, s *share) error { return revoke(ctx, s.client, t.ID) })
			_ = os.RemoveAll(n.folder(j))
		}
		for _, s := range shares {
			_ = s.client.Close()
		}
	}()
	err = n.each(ctx, shares, func(ctx context.Context, s *share) error {
		if err := j.clear(ctx, s); err != nil {
			return err
		}
		t := t
		t.Cards, t.Quota = s.cards, s.quota
		places, err := s.client.IssueToken(ctx, t)
		s.places = places
		return err
	})
	if err != nil {
		return err
	}
	return n.write(j, shares, secret)
}

// shares groups the job's cards by worker, in the order of Slurm's numbers.
func (n *Node) shares(ctx context.Context, j *Job) (list []*share, err error) {
	b, err := os.ReadFile(n.Layout)
	if err != nil {
		return nil, err
	}
	l, err := ParseLayout(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Layout, err)
	}
	cards, numbers := l.Nodes[j.Node], j.Cards
	if len(runs(cards)) > 1 {
		if numbers, err = allocated(ctx, j); err != nil {
			return nil, err
		}
	}
	for _, i := range numbers {
		if i >= len(cards) {
			return nil, fmt.Errorf("%s: node %s has no card %d; is gres.conf from the same smi-remote fleet gres?", n.Layout, j.Node, i)
		}
		c := cards[i]
		at := slices.IndexFunc(list, func(s *share) bool { return s.name == c.Worker })
		if at < 0 {
			s, err := n.connect(c.Worker)
			if err != nil {
				return nil, err
			}
			if s.quota, err = c.Quota(); err != nil {
				return nil, err
			}
			at, list = len(list), append(list, s)
		}
		list[at].slurm, list[at].cards = append(list[at].slurm, i), append(list[at].cards, c.UUID)
	}
	return list, nil
}

// connect names a worker; it does not connect yet.
func (n *Node) connect(name string) (*share, error) {
	workers, err := dialing.Workers(name, workerlist.DefaultPort, dialing.FromEnv(n.getenv), n.getenv)
	if err == nil && len(workers) != 1 {
		err = fmt.Errorf("%q is not one worker", name)
	}
	if err != nil {
		return nil, err
	}
	w := workers[0]
	return &share{name: name, worker: w, client: smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), ConnectTimeout: n.Timeout, IOTimeout: n.Timeout, Dialing: w.Settings, Name: "rocwire-slurm", Version: version.String(),
	})}, nil
}

// each does something on all workers, side by side.
func (n *Node) each(ctx context.Context, shares []*share, do func(context.Context, *share) error) error {
	errs := make([]error, len(shares))
	var wg sync.WaitGroup
	for i, s := range shares {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, n.Timeout)
			defer cancel()
			if err := do(ctx, s); err != nil {
				errs[i] = fmt.Errorf("worker %s: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// clear ends what an epilog has left because it could not reach the worker: jobs of this node with one of these cards, and an earlier run of this one. Slurm gives
// a card to one job at a time.
func (j *Job) clear(ctx context.Context, s *share) error {
	tokens, err := s.client.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		ours := strings.HasPrefix(t.ID, j.tokenPrefix())
		if ours && (t.ID == j.token() || slices.ContainsFunc(t.Cards, func(c string) bool { return slices.Contains(s.cards, c) })) {
			if err := revoke(ctx, s.client, t.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func revoke(ctx context.Context, c *smiremote.Client, id string) error {
	_, err := c.RevokeToken(ctx, id)
	if errors.Is(err, smi.ErrNotFound) {
		return nil
	}
	return err
}

// Files in a job's folder.
const (
	fileToken  = "token"
	fileConfig = "config.yaml"
	fileGiven  = "given.json"
)

// write makes the job's folder, which is root's; what its user may read is the user's.
func (n *Node) write(j *Job, shares []*share, secret string) error {
	dir := n.folder(j)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	g := given{Cards: map[int]int{}}
	var workers []dialing.Worker
	for _, s := range shares {
		before := len(g.Cards)
		order := slices.Sorted(slices.Values(s.places))
		for i, place := range s.places {
			at, _ := slices.BinarySearch(order, place)
			g.Cards[s.slurm[i]] = before + at
		}
		w := s.worker
		w.TokenFile, w.TLS.Cert, w.TLS.Key = filepath.Join(dir, fileToken), "", ""
		workers, g.Layout = append(workers, w), append(g.Layout, s.name)
	}
	config, names, err := dialing.FileOf(workers, "")
	if err != nil {
		return err
	}
	g.Workers = names
	notes, err := json.Marshal(g)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, content string
		mode          os.FileMode
	}{{fileToken, secret + "\n", 0o400}, {fileConfig, string(config), 0o444}, {fileGiven, string(notes), 0o444}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.content), f.mode); err != nil {
			return err
		}
	}
	return os.Chown(filepath.Join(dir, fileToken), j.UID, j.GID)
}

// Epilog takes back what Prolog has given, and ends what the job has left on the workers. The error is of those that could not be reached: the next
// job with one of their cards tries again before it begins.
func (n *Node) Epilog(ctx context.Context, j *Job) error {
	n.defaults()
	g, err := n.given(j)
	if g == nil || err != nil {
		return err
	}
	var shares []*share
	for _, name := range g.Layout {
		s, e := n.connect(name)
		if e != nil { // it is not in the configuration any more
			err = errors.Join(err, e)
			continue
		}
		shares = append(shares, s)
	}
	err = errors.Join(err, n.each(ctx, shares, func(ctx context.Context, s *share) error { return revoke(ctx, s.client, j.token()) }))
	for _, s := range shares {
		_ = s.client.Close()
	}
	return errors.Join(err, os.RemoveAll(n.folder(j)))
}

// given is what the job has; nil if it has no cards.
func (n *Node) given(j *Job) (*given, error) {
	path := filepath.Join(n.folder(j), fileGiven)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g := new(given)
	if err := json.Unmarshal(b, g); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// TaskProlog is what slurmd is to change in the environment of a task, in its words: lines of export and unset. A step, or a task, with some of the
// job's cards only sees those.
func (n *Node) TaskProlog(j *Job) (lines []string, err error) {
	n.defaults()
	g, err := n.given(j)
	if g == nil || err != nil {
		return nil, err
	}
	cards := slices.Sorted(maps.Keys(g.Cards))
	for _, name := range []string{"SLURM_STEP_GPUS", "ROCR_VISIBLE_DEVICES"} {
		v := n.Getenv(name)
		if v == "" {
			continue
		}
		some, err := Numbers(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range some {
			if _, ok := g.Cards[c]; !ok {
				return nil, fmt.Errorf("%s=%s: the job was not given card %d when it began", name, v, c)
			}
		}
		cards = slices.DeleteFunc(cards, func(c int) bool { return !slices.Contains(some, c) })
	}
	visible := make([]string, len(cards))
	for i, c := range cards {
		visible[i] = strconv.Itoa(g.Cards[c])
	}
	lines = []string{
		"export TF_WORKER_HOST=" + strings.Join(g.Workers, ","), "export " + dialing.FileVariable + "=" + filepath.Join(n.folder(j), fileConfig), "export HIP_VISIBLE_DEVICES=" + strings.Join(visible, ","),
	}
	// Slurm's own numbers are the node's, and what the user has set for other workers goes before the file.
	for _, name := range []string{
		"ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", dialing.TokenVariable, dialing.TLSVariable, dialing.CAVariable, dialing.CertVariable, dialing.KeyVariable,
		dialing.ServerNameVariable,
	} {
		if n.Getenv(name) != "" {
			lines = append(lines, "unset "+name)
		}
	}
	return lines, nil
}
