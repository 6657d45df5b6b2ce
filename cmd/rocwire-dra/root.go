//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/klog/v2"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/dra"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/internal/version"
)

const about = `rocwire-dra hands the cards of rocwire workers to pods by Kubernetes' Dynamic
Resource Allocation. One "publish" of a cluster keeps its ResourceSlices; a "node"
on each node prepares the claims of its pods: a token for the cards alone, and
what containers need to use them.

The workers are those that the configuration file names (ROCWIRE_CONFIG), and
those that --workers finds.`

// settings are the flags of both commands.
type settings struct {
	getenv     func(string) string
	log        *slog.Logger
	kubeconfig string
	sources    []string
	timeout    time.Duration
}

func newRoot(getenv func(string) string, stderr io.Writer) *cobra.Command {
	s := &settings{getenv: getenv, log: slog.New(slog.NewTextHandler(stderr, nil))}
	root := &cobra.Command{
		Use: "rocwire-dra", Short: "Hand the cards of rocwire workers to Kubernetes' pods", Long: about, Version: version.String(),
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true, Args: cobra.ArbitraryArgs, RunE: cli.NoCommand,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(cli.FlagError)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "`FILE` that says where the cluster is; in a pod it is\nthat pod's")
	f.StringSliceVar(&s.sources, "workers", nil, "`SOURCE` of more workers, as smi-remote fleet takes it")
	f.DurationVar(&s.timeout, "timeout", 10*time.Second, "how long a worker may take, a `TIME`")
	root.AddCommand(publishCommand(s), nodeCommand(s))
	cli.AddDocs(root)
	return root
}

func publishCommand(s *settings) *cobra.Command {
	interval := 15 * time.Second
	c := &cobra.Command{
		Use: "publish", Short: "Keep the cluster's ResourceSlices as the cards are", Args: cli.Words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := s.cluster()
			if err != nil {
				return err
			}
			workers, err := s.workers(cmd.Context())
			if err != nil {
				return err
			}
			p := &dra.Publisher{Client: client, Workers: workers, Interval: interval, Timeout: s.timeout, Log: s.log}
			return p.Run(s.klog(cmd.Context()))
		},
	}
	c.Flags().DurationVar(&interval, "interval", interval, "`TIME` between two looks at the workers")
	return c
}

func nodeCommand(s *settings) *cobra.Command {
	n := &dra.Node{}
	name, registry := s.getenv("NODE_NAME"), kubeletplugin.KubeletRegistryDir
	c := &cobra.Command{
		Use: "node", Short: "Prepare the claims of a node's pods", Args: cli.Words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return cli.Usagef("which node is this? Give --node-name, or NODE_NAME")
			}
			ctx, cancel := context.WithCancelCause(s.klog(cmd.Context()))
			defer cancel(nil)
			client, err := s.cluster()
			if err != nil {
				return err
			}
			workers, err := s.workers(ctx)
			if err != nil {
				return err
			}
			n.Workers = func(ctx context.Context) ([]fleet.Worker, error) {
				list, _, err := workers(ctx)
				return list, err
			}
			n.Client, n.Timeout, n.Log, n.Fatal = client, s.timeout, s.log, func(err error) { cancel(err) }
			if err := os.MkdirAll(n.Dir, 0o750); err != nil {
				return err
			}
			h, err := kubeletplugin.Start(ctx, n, kubeletplugin.DriverName(dra.Driver), kubeletplugin.NodeName(name), kubeletplugin.KubeClient(client),
				kubeletplugin.RegistrarDirectoryPath(registry), kubeletplugin.PluginDataDirectoryPath(n.Dir), kubeletplugin.HealthService(false))
			if err != nil {
				return err
			}
			s.log.Info("claims are prepared", "node", name)
			n.Keep(ctx)
			h.Stop()
			if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&name, "node-name", name, "`NAME` of this node (NODE_NAME)")
	f.StringVar(&n.Dir, "state", filepath.Join(kubeletplugin.KubeletPluginsDir, dra.Driver), "`FOLDER` for claims that are prepared, the same\nin this pod and on the node")
	f.StringVar(&n.CDI, "cdi", "/var/run/cdi", "`FOLDER` where container runtimes look for CDI files")
	f.StringVar(&n.Library, "library", "/usr/lib/rocwire", "`FOLDER` of the node with the client library; \"\" where\nimages have it")
	f.StringVar(&registry, "registry", registry, "`FOLDER` where the kubelet looks for drivers")
	return c
}

// cluster is where the claims are.
func (s *settings) cluster() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, err
	}
	// No limit of requests: slices are written one after the other, a claim is read when a pod starts, and whom that is too much for says so. The usual five
	// a second are three minutes for a thousand workers.
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// finder knows which workers there are.
type finder func(context.Context) (list []fleet.Worker, all bool, err error)

// workers starts to look for them. They are all if everybody who names some has said so.
func (s *settings) workers(ctx context.Context) (finder, error) {
	d, err := discovery.New(discovery.Options{Sources: s.sources, Getenv: s.getenv, Log: s.log})
	if err != nil {
		return nil, cli.Usagef("--workers: %v", err)
	}
	over := dialing.FromEnv(s.getenv)
	if _, err := dialing.Named(over, s.getenv); err != nil {
		return nil, err
	}
	if len(s.sources) > 0 {
		d.Refresh(ctx)
		go d.Run(ctx)
	}
	return func(context.Context) ([]fleet.Worker, bool, error) {
		named, err := dialing.Named(over, s.getenv)
		if err != nil {
			return nil, false, err
		}
		all := !slices.ContainsFunc(d.States(), func(s discovery.State) bool { return s.Err != "" || s.Success.IsZero() })
		found, err := fleet.Resolve(d.Targets(), over, s.getenv)
		return fleet.Join(fleet.Of(named), found), all, err
	}, nil
}

// klog has Kubernetes' libraries write to our log.
func (s *settings) klog(ctx context.Context) context.Context {
	l := logr.FromSlogHandler(s.log.Handler())
	klog.SetLogger(l)
	return klog.NewContext(ctx, l)
}
