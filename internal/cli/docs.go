//go:build docs

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// AddDocs adds the hidden command that writes manual pages and completions: packages have them. Programs that people run are without
// it, since what writes manuals is large.
func AddDocs(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use: "docs DIR", Hidden: true, Args: Words(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return writeDocs(root, args[0]) },
	})
}

func writeDocs(root *cobra.Command, dir string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return Usagef("SOURCE_DATE_EPOCH: %v", err)
	}
	date := time.Unix(seconds, 0).UTC()
	man := filepath.Join(dir, "man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "rocwire " + root.Version, Manual: "rocwire"}, man); err != nil {
		return err
	}
	for file, write := range map[string]func(string) error{
		"bash/" + root.Name():                func(f string) error { return root.GenBashCompletionFileV2(f, true) },
		"zsh/_" + root.Name():                root.GenZshCompletionFile,
		"fish/" + root.Name() + ".fish":      func(f string) error { return root.GenFishCompletionFile(f, true) },
		"powershell/" + root.Name() + ".ps1": root.GenPowerShellCompletionFileWithDesc,
	} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := write(file); err != nil {
			return err
		}
	}
	return nil
}
