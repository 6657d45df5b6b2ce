// Package cli is what the command lines of rocwire's programs have in common: cobra's commands, one form of mistakes and their
// exit codes, suggestions for what was mistyped, completion, and for programs that run for long one form of configuration file.
//
// The flags of such a program come from the packages that use them, as package flag's, without a word. Their explanation is the
// program's help, which people read as a whole; Program takes from it what manual pages and completions say of each flag, its letter,
// and the variables that go before the configuration file.
package cli
