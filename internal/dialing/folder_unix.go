//go:build !windows

package dialing

import "path/filepath"

// homeFolder is what ~ stands for; empty if nobody says.
func homeFolder(getenv func(string) string) string { return getenv("HOME") }

// configFolder is $XDG_CONFIG_HOME or ~/.config; empty if there is neither.
func configFolder(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // others are to be ignored
		return dir
	}
	if home := homeFolder(getenv); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}
