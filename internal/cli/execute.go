package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Execute runs a command line. Help on words that are no command is a mistake as the words alone would be; cobra shows the help of the
// command before them, and fails in nothing.
func Execute(ctx context.Context, root *cobra.Command) error {
	var mistaken error
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 && words[0] != "help" {
			mistaken = NoCommand(cmd, words)
			return
		}
		usual(cmd, args)
	})
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil && help != root {
		show := help.Run
		help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
			if of, words, err := root.Find(args); err != nil || of.HasSubCommands() && len(words) > 0 {
				return NoCommand(of, words)
			}
			show(cmd, args)
			return nil
		}
	}
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return mistaken
}
