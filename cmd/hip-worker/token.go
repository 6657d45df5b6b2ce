package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/worker/access"
)

// tokenCommand makes tokens.
func tokenCommand() *cobra.Command {
	c := &cobra.Command{Use: "token", Short: "Make tokens that let clients in", Args: cobra.ArbitraryArgs, RunE: cli.NoCommand}
	var expires time.Duration
	var file string
	n := &cobra.Command{
		Use: "new NAME", Short: "Make a token for a client", Args: cli.Words(1, 1),
		Long: `Makes a token for a client. Standard output gets the entry for the worker's
--token-file, below "tokens:", which does not tell the token; --out gets the token
itself, for TF_WORKER_TOKEN_FILE of the client. Without --out it is shown on
standard error, this once.`,
		Example: "  hip-worker token new alice --expires 720h --out alice.token >> tokens.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if expires < 0 || args[0] == "" {
				return cli.Usagef("a token needs a name, and --expires is not negative")
			}
			return newToken(args[0], expires, file, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	n.Flags().DurationVar(&expires, "expires", 0, "for how long it is good, a `TIME` such as 720h (for ever)")
	n.Flags().StringVar(&file, "out", "", "`FILE` for the token, which is not there yet")
	c.AddCommand(n)
	return c
}

func newToken(name string, expires time.Duration, file string, stdout, stderr io.Writer) error {
	var end time.Time
	if expires > 0 {
		end = time.Now().Add(expires)
	}
	secret, entry, err := access.Mint(name, end)
	if err != nil {
		return err
	}
	if file == "" {
		_, err = fmt.Fprintf(stderr, "the token, shown only here: %s\n", secret)
	} else {
		err = cli.WriteSecret(file, secret+"\n")
	}
	if err == nil {
		_, err = io.WriteString(stdout, entry)
	}
	return err
}
