//go:build !docs

package cli

import "github.com/spf13/cobra"

// AddDocs adds the hidden command that writes manual pages and completions, in builds with the tag docs.
func AddDocs(*cobra.Command) {}
