package influx

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"

	"github.com/rocwire/rocwire/internal/outbound"
)

// Options say where to write. It is done if URL is given.
type Options struct {
	URL          string // of the server; see Target
	Bucket       string // bucket, or database. InfluxDB needs one; GreptimeDB's default is public
	Org          string // organization, of InfluxDB 2
	Token        outbound.Secret
	TokenFile    string // holds the token, instead of Token
	User         string // for basic authentication
	Password     outbound.Secret
	PasswordFile string       // holds the password, instead of Password
	TLS          outbound.TLS // of a https URL
}

// Enabled reports whether rows are to be sent.
func (o *Options) Enabled() bool { return o.URL != "" }

// AddFlags adds the flags of Usage. What FromEnv read is their default.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.URL, "influx-url", o.URL, "")
	fs.StringVar(&o.Bucket, "influx-bucket", o.Bucket, "")
	fs.StringVar(&o.Org, "influx-org", o.Org, "")
	fs.StringVar(&o.TokenFile, "influx-token-file", o.TokenFile, "")
	fs.StringVar(&o.User, "influx-user", o.User, "")
	fs.StringVar(&o.PasswordFile, "influx-password-file", o.PasswordFile, "")
	fs.StringVar(&o.TLS.CA, "influx-ca", o.TLS.CA, "")
	fs.StringVar(&o.TLS.ServerName, "influx-server-name", o.TLS.ServerName, "")
	fs.BoolVar(&o.TLS.Insecure, "influx-tls-insecure", o.TLS.Insecure, "")
}

// FromEnv reads the variables of Usage.
func (o *Options) FromEnv(getenv func(string) string) error {
	for name, v := range map[string]*string{
		"ROCWIRE_INFLUX_URL": &o.URL, "ROCWIRE_INFLUX_BUCKET": &o.Bucket, "ROCWIRE_INFLUX_ORG": &o.Org, "ROCWIRE_INFLUX_USER": &o.User,
		"ROCWIRE_INFLUX_TOKEN_FILE": &o.TokenFile, "ROCWIRE_INFLUX_PASSWORD_FILE": &o.PasswordFile, "ROCWIRE_INFLUX_CA": &o.TLS.CA,
	} {
		if s := getenv(name); s != "" {
			*v = s
		}
	}
	for name, v := range map[string]*outbound.Secret{"ROCWIRE_INFLUX_TOKEN": &o.Token, "ROCWIRE_INFLUX_PASSWORD": &o.Password} {
		if s := getenv(name); s != "" {
			*v = outbound.Secret(s)
		}
	}
	return nil
}

// Usage is the help for the flags.
func Usage() string {
	return `  --influx-url URL        send figures as InfluxDB line protocol: http://HOST:8086 of InfluxDB, http://HOST:4000/v1/influxdb of
                          GreptimeDB, http://HOST:8428/write of VictoriaMetrics (ROCWIRE_INFLUX_URL)
  --influx-bucket NAME    bucket or database to write to (ROCWIRE_INFLUX_BUCKET)
  --influx-org NAME       organization, of InfluxDB 2 (ROCWIRE_INFLUX_ORG)
  --influx-token-file FILE
                          holds the token (ROCWIRE_INFLUX_TOKEN_FILE, or the token in ROCWIRE_INFLUX_TOKEN)
  --influx-user USER      user of basic authentication, instead of a token (ROCWIRE_INFLUX_USER)
  --influx-password-file FILE
                          holds the user's password (ROCWIRE_INFLUX_PASSWORD_FILE, or the password in ROCWIRE_INFLUX_PASSWORD)
  --influx-ca FILE        certificates that may sign the server's, instead of this machine's (ROCWIRE_INFLUX_CA)
  --influx-server-name NAME
                          what the server's certificate must be for, instead of the host's name
  --influx-tls-insecure   do not check the server's certificate
`
}

// v2Path is the end of the interface of InfluxDB 2 and of those that have the same.
const v2Path = "/api/v2/write"

// Target is where lines are posted. A path that ends in /write is used as it is,
// otherwise /api/v2/write is added. The name of the bucket goes where the server looks
// for it: in db below /v1/influxdb/ (GreptimeDB) and in interfaces older than /api/v2.
func (o *Options) Target() (*url.URL, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--influx-url is no URL such as http://HOST:8086") // which is not shown: it may hold a password
	}
	if u.User != nil {
		return nil, errors.New("--influx-url has a user in it; use --influx-user, so that no list of processes shows the password")
	}
	if u.Fragment != "" {
		return nil, fmt.Errorf("--influx-url ends in #%s, which no server sees", u.Fragment)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/write") {
		u.Path += v2Path
	}
	q := u.Query()
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	switch {
	case strings.Contains(u.Path+"/", "/v1/influxdb/"):
		set("db", o.Bucket)
	case strings.HasSuffix(u.Path, v2Path):
		set("bucket", o.Bucket)
		set("org", o.Org)
		if q.Get("bucket") == "" {
			return nil, errors.New("--influx-bucket is missing")
		}
	default:
		set("db", o.Bucket)
	}
	q.Set("precision", "ms")
	u.RawQuery = q.Encode()
	return u, nil
}

// authorization is the header's value, "" for none.
func (o *Options) authorization() (string, error) {
	for _, f := range []struct {
		flag, path string
		secret     *outbound.Secret
	}{{"--influx-token-file", o.TokenFile, &o.Token}, {"--influx-password-file", o.PasswordFile, &o.Password}} {
		if f.path == "" {
			continue
		}
		s, err := outbound.ReadSecret(f.path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.flag, err)
		}
		*f.secret = s
	}
	switch {
	case o.Token != "" && o.User != "":
		return "", errors.New("there are a token and --influx-user; only one can be used")
	case (o.User == "") != (o.Password == ""):
		return "", errors.New("--influx-user and a password go together, and only one is given")
	case o.Token != "":
		return "Token " + o.Token.Reveal(), nil
	case o.User != "":
		return basic(o.User, o.Password), nil
	}
	return "", nil
}
