package main

import (
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/audit"
)

const whoUsage = `
Who may use it:
  --token-file FILE       tokens that let clients in, and what they may do; read again when it changes. Only its owner and
                          group may read it. hip-worker token new NAME makes one
  --issued-tokens FILE    let those who have the right "issue" have tokens issued for a job or a pod while the worker runs, and keep
                          them there (none are issued)
  --oidc-issuer URL       let in clients with tokens that this issuer signs; "kubernetes": with tokens of the service
                          accounts of the cluster that this worker runs in
  --oidc-audience NAME    that these tokens must be for (rocwire)
  --oidc-user-claim NAME  what of such a token is the user's name (sub)
  --oidc-groups-claim NAME and what the user's groups are, for the section oidc of the token file (groups)
  --oidc-jwks-url URL     where the issuer's keys are (the issuer says so itself)
  --oidc-ca FILE          certificates that may sign the issuer's (those of this machine)
  --audit WHERE           record who was let in, who was refused and what was changed, one line of JSON each: a file, which
                          SIGHUP opens anew, "stderr" or "journald"
`

// who collects the flags that say whom the worker believes.
type who struct {
	tokens string
	issued string
	oidc   access.OIDC
	audit  string
}

func (w *who) addFlags(f *flag.FlagSet) {
	f.StringVar(&w.tokens, "token-file", "", "")
	f.StringVar(&w.issued, "issued-tokens", "", "")
	f.StringVar(&w.oidc.Issuer, "oidc-issuer", "", "")
	f.StringVar(&w.oidc.Audience, "oidc-audience", "", "")
	f.StringVar(&w.oidc.UserClaim, "oidc-user-claim", "", "")
	f.StringVar(&w.oidc.GroupsClaim, "oidc-groups-claim", "", "")
	f.StringVar(&w.oidc.KeysURL, "oidc-jwks-url", "", "")
	f.StringVar(&w.oidc.CA, "oidc-ca", "", "")
	f.StringVar(&w.audit, "audit", "", "")
}

// check says what is wrong whatever the files and the issuer say.
func (w *who) check() error { return w.oidc.Check() }

func (w *who) config() access.Config {
	return access.Config{TokenFile: w.tokens, IssuedFile: w.issued, OIDC: w.oidc}
}

// record opens the audit log, if one is wanted. SIGHUP opens it anew then.
func (w *who) record(log *slog.Logger) (a *audit.Log, end func(), err error) {
	if w.audit == "" {
		return nil, func() {}, nil
	}
	if a, err = audit.Open(w.audit, log); err != nil {
		return nil, nil, err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hup {
			if err := a.Reopen(); err != nil {
				log.Error("audit", "error", err)
			}
		}
	}()
	return a, func() {
		signal.Stop(hup)
		close(hup)
		<-done
		a.Close()
	}, nil
}

// warnInsecure says on every start what --insecure means.
func warnInsecure(o *options, log *slog.Logger) {
	may := "use the cards"
	if o.allowSet {
		may += ", change them and end sessions"
	}
	log.Warn("--insecure: whoever can reach this worker may "+may+", and whoever is on the way can read and change what is sent", "listen", o.listen.address)
}
