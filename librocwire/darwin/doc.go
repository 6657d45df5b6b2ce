// Package darwin has the test of the libraries for macOS: they are built here for both
// kinds of Macs, and looked into. None of it can be run here.
package darwin
