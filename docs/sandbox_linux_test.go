package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hosts are the machines that the pages name. All of them are this one.
const hosts = `127.0.0.1 localhost gpu-server gpu-machine gpu-1 gpu-exporter login.example.com otlp.example.com collector db.example.com
127.0.1.1 gpu1 a
127.0.1.2 gpu2 b
127.0.1.3 gpu3
127.0.1.4 OLDHOST oldhost
`

// alone makes a command begin in namespaces of its own: it has a network with nothing but loopback, so that every port is free, and may
// put other folders in the place of /etc, /run and /var/lib.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// sandbox is where the commands of one page run.
type sandbox struct {
	dir  string // its own
	real string // the programs, libraries and examples, built
	tree string // the repository
}

// top is the folder in which a reader would be: the repository's, built.
func (s sandbox) top() string { return filepath.Join(s.dir, "rocwire") }

// state is where the stand-ins keep what they have started.
func (s sandbox) state() string { return filepath.Join(s.dir, "state") }

// furnish makes everything what the page takes for granted, in this process's namespaces.
func (s sandbox) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	return errors.Join(loopback(), s.system(), s.repository(), s.programs())
}

func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP)
	return os.NewSyscallError("SIOCSIFFLAGS", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr))
}

func bind(from, to string) error {
	return os.NewSyscallError("mount "+from, unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""))
}

// system puts a folder in the place of /etc that has what is there, and can be written; empty ones in that of /run and /var/lib.
func (s sandbox) system() error {
	etc, before := filepath.Join(s.dir, "etc"), filepath.Join(s.dir, "etc-before")
	if err := errors.Join(os.Mkdir(etc, 0o755), os.Mkdir(before, 0o755), bind("/etc", before)); err != nil {
		return err
	}
	all, err := os.ReadDir(before)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Name() == "hosts" {
			continue
		}
		if err := os.Symlink(filepath.Join(before, e.Name()), filepath.Join(etc, e.Name())); err != nil {
			return err
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(etc, "hosts"), []byte(hosts), 0o644), bind(etc, "/etc")); err != nil {
		return err
	}
	for _, dir := range []string{"/run", "/var/lib"} {
		if err := unix.Mount("none", dir, "tmpfs", 0, "mode=755"); err != nil {
			return os.NewSyscallError("mount "+dir, err)
		}
	}
	return nil
}

// repository is the tree as it is, but for what is built.
func (s sandbox) repository() error {
	if err := os.Mkdir(s.top(), 0o755); err != nil {
		return err
	}
	all, err := os.ReadDir(s.tree)
	if err != nil {
		return err
	}
	for _, e := range all {
		from, to := filepath.Join(s.tree, e.Name()), filepath.Join(s.top(), e.Name())
		switch e.Name() {
		case "bin", "build", "dist", ".git":
			continue
		}
		if e.IsDir() {
			err = errors.Join(os.Mkdir(to, 0o755), bind(from, to))
		} else {
			err = os.Symlink(from, to)
		}
		if err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(s.real, "build"), filepath.Join(s.top(), "build"))
}

// programs are the stand-ins, ours among them, and a HIP program under the names that the pages give it.
func (s sandbox) programs() error {
	stand := filepath.Join(s.tree, "docs/testdata/stand-in.sh")
	hip, err := os.ReadFile(filepath.Join(s.real, "program"))
	errs := []error{err}
	for dir, names := range map[string]string{
		filepath.Join(s.top(), "bin"):    "hip-worker gpu-exporter smi-remote rocwire-slurm rocwire-dra",
		filepath.Join(s.dir, "stand-in"): "hip-worker gpu-exporter smi-remote rocwire-slurm rocwire-dra sudo xdg-open make git go dpkg systemctl docker kubectl helm",
	} {
		errs = append(errs, os.Mkdir(dir, 0o755))
		for name := range strings.FieldsSeq(names) {
			errs = append(errs, os.Symlink(stand, filepath.Join(dir, name)))
		}
	}
	for name := range strings.FieldsSeq("your-hip-program your-hip-tests train hello_hip") {
		// A copy: a process goes by the name of its file.
		errs = append(errs, os.WriteFile(filepath.Join(s.top(), name), hip, 0o755))
	}
	for name := range strings.FieldsSeq("amd-smi rocm-smi btop alumet-agent") {
		errs = append(errs, os.Symlink(filepath.Join(s.real, "cards"), filepath.Join(s.dir, "stand-in", name)))
	}
	errs = append(errs, os.MkdirAll(filepath.Join(s.dir, "home/.config/fish/completions"), 0o755), os.Mkdir(s.state(), 0o755))
	return errors.Join(errs...)
}

// run gives the shell a text, in the reader's folder.
func (s sandbox) run(text string) error {
	cmd := exec.Command("bash", "-c", text)
	cmd.Dir = s.top()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "ROCWIRE_") && !strings.HasPrefix(name, "OTEL_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+filepath.Join(s.dir, "home"), "XDG_CONFIG_HOME=", "STATE="+s.state(), "REAL="+filepath.Join(s.real, "bin"), "TREE="+s.tree,
		"COLUMNS=80", "PATH="+filepath.Join(s.dir, "stand-in")+":"+os.Getenv("PATH"))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("bash: %w", err)
	}
	return nil
}
