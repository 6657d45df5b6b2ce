package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rocwire/rocwire/worker/access"
)

// tokenCommand is the first argument for making tokens.
const tokenCommand = "token"

const tokenUsage = `Usage: hip-worker token new NAME [--expires DURATION] [--out FILE]

Makes a token for a client. Standard output gets the entry for the worker's --token-file, below "tokens:", which does not tell the token; FILE gets the token itself,
for TF_WORKER_TOKEN_FILE of the client. Without --out it is shown on standard error, this once.

  hip-worker token new alice --expires 720h --out alice.token >> tokens.yaml
`

var errTokenUsage = errors.New("wrong arguments")

// tokenMain is hip-worker token.
func tokenMain(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("hip-worker token new", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	expires, file := f.Duration("expires", 0, ""), f.String("out", "", "")
	if len(args) < 2 || args[0] != "new" || args[1] == "" || args[1][0] == '-' || f.Parse(args[2:]) != nil || f.NArg() > 0 || *expires < 0 {
		return errTokenUsage
	}
	var end time.Time
	if *expires > 0 {
		end = time.Now().Add(*expires)
	}
	secret, entry, err := access.Mint(args[1], end)
	if err != nil {
		return err
	}
	if *file == "" {
		_, err = fmt.Fprintf(stderr, "the token, shown only here: %s\n", secret)
	} else {
		err = writeNew(*file, secret+"\n")
	}
	if err == nil {
		_, err = io.WriteString(stdout, entry)
	}
	return err
}

// writeNew writes a file that is not there yet and that nobody else can read.
func writeNew(name, content string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
