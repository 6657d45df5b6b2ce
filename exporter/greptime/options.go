package greptime

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/internal/outbound"
)

// Options say where GreptimeDB is. It is used if Address is given.
type Options struct {
	Address      string // HOST:PORT of gRPC; the port may be missing
	Database     string // default "public"
	User         string // "": no authentication
	Password     outbound.Secret
	PasswordFile string // holds the password, instead of Password
	UseTLS       bool
	TLS          outbound.TLS // with UseTLS
	Time         string       // name and unit of the time column, see TimeColumn. Default "ts:ms"
}

const (
	defaultPort     = "4001"
	defaultDatabase = "public"
	defaultTime     = "ts:ms"
)

// Enabled reports whether rows are to be sent.
func (o *Options) Enabled() bool { return o.Address != "" }

// AddFlags adds the flags of Usage. What FromEnv read is their default.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	def := func(v *string, d string) string {
		if *v == "" {
			return d
		}
		return *v
	}
	fs.StringVar(&o.Address, "greptime", o.Address, "")
	fs.StringVar(&o.Database, "greptime-database", def(&o.Database, defaultDatabase), "")
	fs.StringVar(&o.User, "greptime-user", o.User, "")
	fs.StringVar(&o.PasswordFile, "greptime-password-file", o.PasswordFile, "")
	fs.BoolVar(&o.UseTLS, "greptime-tls", o.UseTLS, "")
	fs.StringVar(&o.TLS.CA, "greptime-ca", o.TLS.CA, "")
	fs.StringVar(&o.TLS.ServerName, "greptime-server-name", o.TLS.ServerName, "")
	fs.BoolVar(&o.TLS.Insecure, "greptime-tls-insecure", o.TLS.Insecure, "")
	fs.StringVar(&o.Time, "greptime-time", def(&o.Time, defaultTime), "")
}

// FromEnv reads the variables of Usage.
func (o *Options) FromEnv(getenv func(string) string) error {
	for name, v := range map[string]*string{
		"ROCWIRE_GREPTIME": &o.Address, "ROCWIRE_GREPTIME_DATABASE": &o.Database, "ROCWIRE_GREPTIME_USER": &o.User,
		"ROCWIRE_GREPTIME_PASSWORD_FILE": &o.PasswordFile, "ROCWIRE_GREPTIME_CA": &o.TLS.CA,
	} {
		if s := getenv(name); s != "" {
			*v = s
		}
	}
	if s := getenv("ROCWIRE_GREPTIME_PASSWORD"); s != "" {
		o.Password = outbound.Secret(s)
	}
	if s := getenv("ROCWIRE_GREPTIME_TLS"); s != "" {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("ROCWIRE_GREPTIME_TLS=%q is neither 1 nor 0", s)
		}
		o.UseTLS = v
	}
	return nil
}

// Usage is the help for the flags.
func Usage() string {
	return `  --greptime HOST:PORT    send figures to this GreptimeDB, over gRPC; the port is 4001 if it is missing (ROCWIRE_GREPTIME)
  --greptime-database DB  database to write to (public, or ROCWIRE_GREPTIME_DATABASE)
  --greptime-user USER    user to authenticate as (ROCWIRE_GREPTIME_USER)
  --greptime-password-file FILE
                          holds the user's password (ROCWIRE_GREPTIME_PASSWORD_FILE, or the password in ROCWIRE_GREPTIME_PASSWORD)
  --greptime-tls          connect with TLS (ROCWIRE_GREPTIME_TLS=1)
  --greptime-ca FILE      certificates that may sign the server's, instead of this machine's (ROCWIRE_GREPTIME_CA)
  --greptime-server-name NAME
                          what the server's certificate must be for, instead of the host's name
  --greptime-tls-insecure do not check the server's certificate
  --greptime-time NAME:UNIT
                          time column of the tables and its unit, ms, us or ns, where others made them (ts:ms)
`
}

// check completes the options, and reads the password.
func (o *Options) check() (host string, err error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil { // no port, or nothing that is an address
		host, port = strings.Trim(o.Address, "[]"), defaultPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/@ ") {
		return "", fmt.Errorf("--greptime %q is not HOST:PORT", o.Address)
	}
	o.Address = net.JoinHostPort(host, port)
	if o.Database == "" {
		o.Database = defaultDatabase
	}
	if o.Time == "" {
		o.Time = defaultTime
	}
	if o.PasswordFile != "" {
		if o.Password, err = outbound.ReadSecret(o.PasswordFile); err != nil {
			return "", fmt.Errorf("--greptime-password-file: %w", err)
		}
	}
	if (o.User == "") != (o.Password == "") {
		return "", errors.New("--greptime-user and a password go together, and only one is given")
	}
	if !o.UseTLS && o.TLS != (outbound.TLS{}) {
		return "", errors.New("--greptime-ca, --greptime-server-name and --greptime-tls-insecure need --greptime-tls")
	}
	return host, nil
}
