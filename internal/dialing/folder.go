package dialing

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxFolder bounds the files of a folder.
const maxFolder = 256

// openFolder reads the config.yaml of each folder in one, by name, as if they were one file: whoever hands out cards adds a folder for each lot, and knows
// nothing of the others. All workers of a file without a default are one, in the order of their names; a name may stand in one file only.
func openFolder(dir, home string) (*file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string // by name
	for _, e := range entries {
		path := filepath.Join(dir, e.Name(), "config.yaml")
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w: no folder with a config.yaml in it", dir, os.ErrNotExist)
	}
	if len(paths) > maxFolder {
		return nil, fmt.Errorf("%s: more than %d folders", dir, maxFolder)
	}
	all := &file{Workers: map[string]fileEntry{}}
	for _, path := range paths {
		f, err := readFile(path, home)
		if err != nil {
			return nil, err
		}
		for name, e := range f.Workers {
			if o, twice := all.Workers[name]; twice {
				return nil, fmt.Errorf("%s: worker %s is in %s already", path, name, o.from)
			}
			e.given = true
			all.Workers[name] = e
		}
		if f.Default == "" {
			f.Default = f.names()
		}
		if all.Default != "" && f.Default != "" {
			all.Default += ","
		}
		all.Default += f.Default
	}
	return all, nil
}
