// Package deploy has no code: its tests run the scripts that install and try things
// where rocwire is deployed, with stand-ins for what they call. The files beside it are
// judged by the module in check.
package deploy
