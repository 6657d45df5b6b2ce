package access

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/rocwire/rocwire/internal/outbound"
)

// Cluster is the OIDC.Issuer of the Kubernetes cluster that this worker runs in. Its clients show tokens of their service accounts, projected for the
// audience.
const Cluster = "kubernetes"

// serviceAccountDir is where every pod finds its own token and the cluster's CA.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster finds the cluster's issuer: its name stands in this pod's own token, which is also what the API server wants to see before it tells its
// keys. bearer is the file with that token.
func inCluster(cfg OIDC, dir string, getenv func(string) string) (_ OIDC, bearer string, err error) {
	bearer = filepath.Join(dir, "token")
	own, err := outbound.ReadSecret(bearer)
	if err != nil {
		return cfg, "", fmt.Errorf("this is no pod with a service account: %w", err)
	}
	if cfg.Issuer, err = issuerOf(own.Reveal()); err != nil {
		return cfg, "", fmt.Errorf("%s: %w", bearer, err)
	}
	if cfg.KeysURL != "" {
		bearer = "" // it is for the API server only
	} else {
		host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return cfg, "", errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not say where the cluster is")
		}
		cfg.KeysURL = "https://" + net.JoinHostPort(host, port) + "/openid/v1/jwks"
	}
	setDefault(&cfg.CA, filepath.Join(dir, "ca.crt"))
	return cfg, bearer, nil
}

// issuerOf reads who says to have signed a token. Nothing is checked: it is this process's own.
func issuerOf(jwt string) (string, error) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return "", errors.New("no signed token")
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", errors.New("no signed token")
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(b, &claims) != nil || claims.Issuer == "" {
		return "", errors.New("a token without an issuer")
	}
	return claims.Issuer, nil
}

// serviceAccountGroups are the groups that Kubernetes gives a service account.
func serviceAccountGroups(name string) []string {
	rest, ok := strings.CutPrefix(name, "system:serviceaccount:")
	namespace, _, two := strings.Cut(rest, ":")
	if !ok || !two {
		return nil
	}
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}
