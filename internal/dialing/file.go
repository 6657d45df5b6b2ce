package dialing

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/internal/outbound"
)

// FileVariable names another configuration file than the usual one, or a folder of folders with one each.
const FileVariable = "ROCWIRE_CONFIG"

// A file is what the configuration file says.
type file struct {
	Default string               `yaml:"default,omitempty"` // what TF_WORKER_HOST would be; "" for none
	Workers map[string]fileEntry `yaml:"workers"`
}

// fileEntry is one worker of the file.
type fileEntry struct {
	Address   string   `yaml:"address"`
	TokenFile string   `yaml:"token-file,omitempty"`
	TLS       *fileTLS `yaml:"tls,omitempty"`
	Reconnect string   `yaml:"reconnect,omitempty"`

	from  string // the file that it is in
	given bool   // by whoever made the folder that the file is in
}

type fileTLS struct {
	CA         string `yaml:"ca,omitempty"`
	Cert       string `yaml:"cert,omitempty"`
	Key        string `yaml:"key,omitempty"`
	ServerName string `yaml:"server-name,omitempty"`
}

// Limits of a file.
const (
	maxFile = 1 << 20
	maxName = 64
)

// openFile reads the configuration file: the one that FileVariable names, or rocwire/config.yaml in the person's folder for such files, if it is there.
func openFile(getenv func(string) string) (*file, error) {
	path, home := getenv(FileVariable), homeFolder(getenv)
	named := path != ""
	if !named {
		dir := configFolder(getenv)
		if dir == "" {
			return &file{}, nil
		}
		path = filepath.Join(dir, "rocwire", "config.yaml")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() && named {
		return openFolder(path, home)
	}
	f, err := readFile(path, home)
	if errors.Is(err, os.ErrNotExist) && !named {
		return &file{}, nil
	}
	return f, err
}

// readFile reads one file.
func readFile(path, home string) (*file, error) {
	b, err := outbound.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	f, err := parseFile(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name, e := range f.Workers {
		e.from = path
		for _, p := range e.files() {
			*p = e.absolute(*p, home)
		}
		f.Workers[name] = e
	}
	return f, nil
}

// names are all workers of the file, in order, as a list of them is written.
func (f *file) names() string { return strings.Join(slices.Sorted(maps.Keys(f.Workers)), ",") }

// parseFile reads a file's content.
func parseFile(b []byte) (*file, error) {
	f := new(file)
	if err := yaml.UnmarshalStrict(b, f); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", ""))
	}
	for name, e := range f.Workers {
		if !goodName(name) {
			return nil, fmt.Errorf("%q is no name: letters, digits, '.', '_' and '-', %d at most", name, maxName)
		}
		if e.Address == "" {
			return nil, fmt.Errorf("worker %s has no address", name)
		}
		if _, err := e.reconnect(); err != nil {
			return nil, fmt.Errorf("worker %s: %w", name, err)
		}
	}
	return f, nil
}

// goodName reports whether a name can stand in a list of workers.
func goodName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// files are the paths in an entry.
func (e *fileEntry) files() []*string {
	list := []*string{&e.TokenFile}
	if e.TLS != nil {
		list = append(list, &e.TLS.CA, &e.TLS.Cert, &e.TLS.Key)
	}
	return list
}

// absolute is a path of the file: from the folder that the file is in, or from home with ~/ in front.
func (e *fileEntry) absolute(path, home string) string {
	rest, fromHome := strings.CutPrefix(path, "~/")
	switch {
	case path == "" || filepath.IsAbs(path):
		return path
	case fromHome && home != "":
		return filepath.Join(home, rest)
	}
	return filepath.Join(filepath.Dir(e.from), path)
}

// settings are what the file says of connecting to a worker.
func (e *fileEntry) settings() (s Settings) {
	s.TokenFile, s.TokenGiven = e.TokenFile, e.given && e.TokenFile != ""
	if t := e.TLS; t != nil {
		s.TLS = TLS{Use: "1", CA: t.CA, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName}
	}
	return s
}

// reconnect is how long a connection that was cut is tried to be made again; nil if the file does not say.
func (e *fileEntry) reconnect() (*time.Duration, error) {
	if e.Reconnect == "" {
		return nil, nil
	}
	d, err := time.ParseDuration(e.Reconnect)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("reconnect: %q is no duration, such as 60s", e.Reconnect)
	}
	return &d, nil
}

// FileOf is a configuration file with these workers, by the names that Workers gives them, or w0, w1, … Client certificates stay out of it. A file below base
// is named from there; "" for none.
func FileOf(workers []Worker, base string) (content []byte, names []string, err error) {
	f := file{Workers: map[string]fileEntry{}}
	for i, w := range workers {
		name := w.Name
		if _, twice := f.Workers[name]; name == "" || twice {
			name = fmt.Sprintf("w%d", i)
		}
		if _, twice := f.Workers[name]; twice {
			return nil, nil, fmt.Errorf("two workers are called %s", name)
		}
		c, err := w.TLS.config()
		if err != nil {
			return nil, nil, err
		}
		e := fileEntry{Address: w.Address.String(), TokenFile: w.TokenFile}
		if c != nil {
			e.TLS = &fileTLS{CA: w.TLS.CA, ServerName: w.TLS.ServerName}
		}
		if w.Reconnect != nil {
			e.Reconnect = w.Reconnect.String()
		}
		for _, p := range e.files() {
			if rest, below := strings.CutPrefix(*p, base+"/"); below && base != "" {
				*p = rest
			}
		}
		f.Workers[name] = e
		names = append(names, name)
	}
	content, err = yaml.Marshal(&f)
	return content, names, err
}
