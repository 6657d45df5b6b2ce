package influx

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/internal/outbound"
	"github.com/rocwire/rocwire/smi"
)

// client posts records.
type client struct {
	http   *http.Client
	target *url.URL
	auth   string // "" for none

	unsigned bool // the server knows unsigned numbers
}

func basic(user string, password outbound.Secret) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password.Reveal()))
}

func newClient(o *Options) (*client, error) {
	u, err := o.Target()
	if err != nil {
		return nil, err
	}
	auth, err := o.authorization()
	if err != nil {
		return nil, err
	}
	if u.Scheme == "http" && o.TLS != (outbound.TLS{}) {
		return nil, errors.New("--influx-ca, --influx-server-name and --influx-tls-insecure need a https URL")
	}
	config, err := o.TLS.Config(u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("--influx-ca: %w", err)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = config
	t.MaxResponseHeaderBytes = 64 << 10
	return &client{target: u, auth: auth, unsigned: strings.HasSuffix(u.Path, v2Path), http: &http.Client{
		Transport: t,
		// A redirection would be followed with the token, to wherever it says.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// send delivers one record; see push.Options.Send.
func (c *client) send(ctx context.Context, record []byte) error {
	batch, err := rows.Decode(record)
	if err != nil {
		return fmt.Errorf("%w: %w", push.ErrPermanent, err)
	}
	err = c.all(ctx, split(batch, c.unsigned, false))
	if errors.Is(err, push.ErrPermanent) && len(batch.Tables) > 1 {
		return c.all(ctx, split(batch, c.unsigned, true)) // what is not refused must arrive
	}
	return err
}

// all sends requests. What is refused for good keeps no other from being sent.
func (c *client) all(ctx context.Context, requests [][]string) error {
	var refused []error
	for _, lines := range requests {
		err := c.post(ctx, lines)
		if errors.Is(err, push.ErrPermanent) {
			refused = append(refused, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(refused...)
}

// post sends lines in one request, or in several if that is too large.
func (c *client) post(ctx context.Context, lines []string) error {
	body, err := compress(lines)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.String(), body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "rocwire-exporter")
	if c.auth != "" {
		r.Header.Set("Authorization", c.auth)
	}
	answer, err := c.http.Do(r)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", c.target.Host, u.Err) // without the query, in which anything may be
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxWords)) // what there is says enough
	if answer.StatusCode == http.StatusRequestEntityTooLarge && len(lines) > 1 {
		half := len(lines) / 2
		return c.all(ctx, [][]string{lines[:half], lines[half:]})
	}
	return classify(answer, string(said))
}

// maxWords is how much of an answer is read, in bytes.
const maxWords = 1024

// slow is when something is tried again that somebody must put in order first.
const slow = time.Minute

// classify makes of an answer what package push understands; nil for success.
func classify(answer *http.Response, said string) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s: %s", smi.Printable(answer.Status), smi.Printable(said))
	after := push.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %w", push.ErrPermanent, err)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return &push.RetryError{After: max(after, slow), Err: err}
	}
	if after > 0 {
		return &push.RetryError{After: after, Err: err}
	}
	return err
}
