package cluster

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Options are what a control plane has besides etcd and kube-apiserver.
type Options struct {
	// Scheduler starts kube-scheduler.
	Scheduler bool
	// Controllers starts kube-controller-manager with all controllers but the one that misses nodes' signs of life. Without it there is nobody who makes
	// service accounts, so that pods need none, and nobody who deletes what a namespace or an owner leaves.
	Controllers bool
	// Flags are more flags of a program, by its name.
	Flags map[string][]string
}

// Cluster is a control plane that runs until the test ends.
type Cluster struct {
	// Config is for an administrator, without a limit of requests.
	Config *rest.Config
	// Client is made of it.
	Client kubernetes.Interface
	// Kubeconfig is a file for programs that are to be an administrator.
	Kubeconfig string
	// Processes are the numbers of its programs' processes, for who wants to know what they cost.
	Processes map[string]int

	dir string // of what is the control plane's
	ca  *pair
	url string
}

// Start starts a control plane, and ends it with the test, which is skipped where etcd is missing. The first time of all it takes minutes: see Build.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("needs etcd (apt-get install etcd-server)")
	}
	wanted := []string{apiServer}
	if o.Scheduler {
		wanted = append(wanted, scheduler)
	}
	if o.Controllers {
		wanted = append(wanted, controllers)
	}
	path := map[string]string{}
	for _, name := range wanted {
		if path[name], err = Build(t.Context(), name, os.Stderr); err != nil {
			t.Fatal(err)
		}
	}

	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	c := &Cluster{dir: dir, ca: sign(t, nil, "rocwire's test", nil), Processes: map[string]int{}}
	c.ca.write(t, in("ca"))
	sign(t, c.ca, apiServer, nil, net.IPv4(127, 0, 0, 1)).write(t, in("server"))
	sign(t, nil, "service accounts", nil).write(t, in("accounts"))

	store, peers := "http://"+Address(t), "http://"+Address(t)
	c.Processes["etcd"] = start(t, dir, etcd, "--data-dir", in("etcd"), "--listen-client-urls", store, "--advertise-client-urls", store,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers, "--unsafe-no-fsync").pid

	host, port, err := net.SplitHostPort(Address(t))
	if err != nil {
		t.Fatal(err)
	}
	c.url = "https://" + net.JoinHostPort(host, port)
	flags := []string{
		"--etcd-servers=" + store, "--bind-address=" + host, "--secure-port=" + port, "--tls-cert-file=" + in("server.crt"), "--tls-private-key-file=" + in("server.key"),
		"--client-ca-file=" + in("ca.crt"), "--authorization-mode=Node,RBAC", "--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + in("accounts.crt"), "--service-account-signing-key-file=" + in("accounts.key"),
		"--enable-bootstrap-token-auth=false",
		"--kubelet-certificate-authority=" + in("ca.crt"), "--kubelet-client-certificate=" + in("server.crt"), "--kubelet-client-key=" + in("server.key"),
		"--endpoint-reconciler-type=none",
		// Nobody takes this taint from a node: see Options.Controllers.
		"--disable-admission-plugins=TaintNodesByCondition" + map[bool]string{false: ",ServiceAccount"}[o.Controllers],
	}
	server := start(t, dir, path[apiServer], append(flags, o.Flags[apiServer]...)...)
	c.Processes[apiServer] = server.pid
	c.Config = c.User(t, "admin", "system:masters")
	c.Kubeconfig = c.KubeconfigFor(t, "admin", "system:masters")
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		t.Fatal(err)
	}
	c.ready(t, server)

	if o.Scheduler {
		c.Processes[scheduler] = start(t, dir, path[scheduler], append([]string{"--kubeconfig=" + c.KubeconfigFor(t, "system:kube-scheduler"), "--leader-elect=false", "--secure-port=0"},
			o.Flags[scheduler]...)...).pid
	}
	if o.Controllers {
		c.Processes[controllers] = start(t, dir, path[controllers], append([]string{
			"--kubeconfig=" + c.KubeconfigFor(t, "system:kube-controller-manager"), "--leader-elect=false", "--secure-port=0", "--use-service-account-credentials",
			"--controllers=*,-node-lifecycle-controller", "--service-account-private-key-file=" + in("accounts.key"), "--root-ca-file=" + in("ca.crt"),
			"--cluster-signing-cert-file=" + in("ca.crt"), "--cluster-signing-key-file=" + in("ca.key"),
		}, o.Flags[controllers]...)...).pid
	}
	return c
}

// ready waits until the server says that it is.
func (c *Cluster) ready(t testing.TB, server *process) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		code := 0
		c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).StatusCode(&code)
		if code == http.StatusOK {
			return
		}
		select {
		case <-server.done:
			t.Fatal("kube-apiserver ended before it was ready")
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-tick.C:
		}
	}
}

// User is what a client is configured with that has a certificate for a name and groups.
func (c *Cluster) User(t testing.TB, name string, groups ...string) *rest.Config {
	t.Helper()
	p := sign(t, c.ca, name, groups)
	return &rest.Config{Host: c.url, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.cert, CertData: p.cert, KeyData: p.key}}
}

// KubeconfigFor is a file for programs that are to have that name and those groups.
func (c *Cluster) KubeconfigFor(t testing.TB, name string, groups ...string) string {
	t.Helper()
	p := sign(t, c.ca, name, groups)
	f := api.Config{
		Clusters:       map[string]*api.Cluster{"test": {Server: c.url, CertificateAuthorityData: c.ca.cert}},
		AuthInfos:      map[string]*api.AuthInfo{name: {ClientCertificateData: p.cert, ClientKeyData: p.key}},
		Contexts:       map[string]*api.Context{"test": {Cluster: "test", AuthInfo: name}},
		CurrentContext: "test",
	}
	path := filepath.Join(c.dir, strings.ReplaceAll(name, ":", "-")+".kubeconfig")
	if err := clientcmd.WriteToFile(f, path); err != nil {
		t.Fatal(err)
	}
	return path
}
