package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// debianVersion is the version of a package that is in the tree, without Debian's own part: its change log says it.
func debianVersion(o *options, pkg string) (string, error) {
	path := filepath.Join(o.tree, "usr/share/doc", pkg, "changelog.Debian.gz")
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	line, err := bufio.NewReader(z).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	_, after, _ := strings.Cut(line, "(")
	version, _, ok := strings.Cut(after, ")")
	if !ok {
		return "", fmt.Errorf("%s begins with %q", path, line)
	}
	if i := strings.LastIndexByte(version, '-'); i > 0 {
		version = version[:i]
	}
	return version, nil
}
