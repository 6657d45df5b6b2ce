// Package outbound is what connections to servers of other makers have in common:
// passwords and tokens that stay out of logs, and how a server's certificate is checked.
package outbound
