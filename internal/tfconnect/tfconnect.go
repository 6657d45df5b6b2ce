// Package tfconnect asks TensorFusion's operator where the worker of a pod is.
//
// The operator puts the question's URL into the pod's environment. A GET of it with the
// pod's service-account token as bearer is answered with
//
//	200  native+IP+PORT+NAME-VERSION, as text
//	401  the token is not accepted (403 is taken for the same)
//	404  there is no such connection (yet)
//	503  its worker is not ready, or the operator is not
//	504  its worker did not get ready while the operator waited
//
// The operator holds the request until it can be answered; what is not final is asked
// again for [Patience].
//
// # Trust
//
// Whoever answers at the URL decides which worker gets the program's data: it comes
// from the pod's own environment. The token goes to that URL alone: redirects are not
// followed and proxies not used. It travels in clear where the URL is http, which is
// how the operator is reached inside of its cluster. An answer is bounded in length and
// must name an address and a port.
package tfconnect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/outbound"
)

// Variables of a pod's environment.
const (
	URLVariable       = "TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL"
	nameVariable      = "TENSOR_FUSION_CONNECTION_NAME"
	namespaceVariable = "TENSOR_FUSION_CONNECTION_NAMESPACE"
	// TokenVariable names another file with the token than Kubernetes' usual one.
	TokenVariable = "ROCWIRE_TOKEN_FILE"
)

// tokenFile is where Kubernetes keeps a pod's token; it is renewed there.
const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// Times of the question.
const (
	// Patience is how long a worker may take to get ready, its pod to be scheduled and
	// its image to be pulled included.
	Patience = 5 * time.Minute
	// strange is how long a connection may not be known: it is made before the pod.
	strange = 30 * time.Second
	// pause is between two questions.
	pause = time.Second
	// tell is between two lines that say what is waited for.
	tell = 10 * time.Second
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 10

// Errors of Resolve.
var (
	// ErrRefused: the operator does not accept the token.
	ErrRefused = errors.New("the operator does not accept this pod's token")
	// ErrUnknown: the operator knows no such connection.
	ErrUnknown = errors.New("the operator knows no such connection")
	// ErrNotReady: there was no worker in time.
	ErrNotReady = errors.New("no worker is ready")
)

// Question is what is asked.
type Question struct {
	URL  string
	Logf func(format string, args ...any) // one line for whoever waits

	tokenFile string
	client    *http.Client
	now       func() time.Time
	sleep     func(context.Context, time.Duration)
}

// FromEnv is the question of this pod's environment; false if that names none.
func FromEnv(getenv func(string) string, logf func(string, ...any)) (*Question, bool) {
	at := getenv(URLVariable)
	if at == "" {
		return nil, false
	}
	if u, err := url.Parse(at); err == nil {
		q := u.Query()
		for key, variable := range map[string]string{"name": nameVariable, "namespace": namespaceVariable} {
			if q.Get(key) == "" && getenv(variable) != "" {
				q.Set(key, getenv(variable))
				u.RawQuery = q.Encode()
			}
		}
		at = u.String()
	}
	return &Question{URL: at, Logf: logf, tokenFile: getenv(TokenVariable)}, true
}

func (q *Question) defaults() {
	if q.tokenFile == "" {
		q.tokenFile = tokenFile
	}
	if q.client == nil {
		q.client = &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: Patience},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.sleep == nil {
		q.sleep = func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		}
	}
}

// Resolve asks until there is a worker. Its errors Are ErrRefused, ErrUnknown,
// ErrNotReady or the context's.
func (q *Question) Resolve(ctx context.Context) (*Connection, error) {
	q.defaults()
	u, err := url.Parse(q.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s=%q is no http or https URL", URLVariable, q.URL)
	}
	begin := q.now()
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var told time.Time
	for {
		c, err := q.ask(ctx)
		waited := q.now().Sub(begin)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, ErrRefused), errors.Is(err, errAnswer), errors.Is(err, ErrUnknown) && waited >= strange:
			return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
		case ctx.Err() != nil, waited >= Patience:
			if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrNotReady) {
				err = fmt.Errorf("%w: %w", ErrNotReady, err)
			}
			return nil, fmt.Errorf("%s: %w after %v", u.Redacted(), err, waited.Round(time.Second))
		}
		if now := q.now(); q.Logf != nil && now.Sub(told) >= tell {
			q.Logf("waiting for a worker from %s: %v", u.Host, err)
			told = now
		}
		q.sleep(ctx, pause)
	}
}

// ask asks once.
func (q *Question) ask(ctx context.Context) (*Connection, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, q.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	token, err := outbound.ReadSecret(q.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	res, err := q.client.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the URL, which the caller says
		}
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxAnswer {
		return nil, fmt.Errorf("%w: more than %d bytes", errAnswer, maxAnswer)
	}
	switch res.StatusCode {
	case http.StatusOK:
		return Parse(strings.TrimSpace(string(b)))
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%w (%s)", ErrRefused, res.Status)
	case http.StatusNotFound:
		return nil, fmt.Errorf("%w (%s)", ErrUnknown, res.Status)
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return nil, fmt.Errorf("%w (%s)", ErrNotReady, res.Status)
	}
	if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		return nil, fmt.Errorf("%w (%s)", ErrNotReady, res.Status)
	}
	return nil, fmt.Errorf("%w: %s", errAnswer, res.Status)
}
