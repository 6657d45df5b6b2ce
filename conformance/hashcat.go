package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// hashcatMode is what hashcat says of one kind of hashes.
type hashcatMode struct {
	Name     string
	Slow     bool     `json:"slow_hash"`
	Kernels  []string `json:"kernel_type"`
	Format   string   `json:"example_hash_format"`
	Hash     string   `json:"example_hash"`
	Password string   `json:"example_pass"`
	Keeps    bool     `json:"keep_guessing"` // others may have the same hash
}

// hashcat finds the password of the example that hashcat has of each kind of hashes. It compiles kernels for that, tries them with another example, whose hash it
// has in them, and says so if they do not find that.
type hashcat struct {
	each
	dir   string // what it keeps
	modes map[int]hashcatMode
}

// hashcatLink has the name by which hashcat looks for hipRTC. Debian has it in a package for developers.
func hashcatLink(*options) (map[string]string, error) {
	return map[string]string{"/hiprtc/libhiprtc.so": "/usr/lib/x86_64-linux-gnu/libhiprtc.so.6"}, nil
}

func hashcatPrograms(o *options) ([]program, error) {
	c := &hashcat{dir: filepath.Join(o.tree, lists, "hashcat")}
	c.each = each{names: c.names, made: true}
	return []program{{name: "hashcat", test: c}}, os.MkdirAll(c.dir, 0o755)
}

// run runs case by case: the judge has to know the password.
func (c *hashcat) run(ctx context.Context, h *host, cases []string, report func(caseEnd)) {
	notRun := func(name string, err error) { report(caseEnd{name: name, verdict: results.NotRun, why: err.Error()}) }
	dir, err := os.MkdirTemp(c.dir, "case-")
	if err != nil {
		notRun(cases[0], err)
		return
	}
	defer os.RemoveAll(dir)
	for _, name := range cases {
		t, err := c.try(name, dir)
		if err != nil {
			notRun(name, err)
			continue
		}
		one := each{
			command: func(ctx context.Context, h *host, _ string) *exec.Cmd {
				return h.command(ctx, "usr/bin/hashcat", t.args...)
			},
			judge: t.judge,
		}
		one.run(ctx, h, []string{name}, report)
	}
}

// bridged is the first mode that is computed by something else than hashcat's kernels: libraries for the CPU, Python, Rust.
const bridged = 70000

func (c *hashcat) names(ctx context.Context, h *host) ([]string, error) {
	out, err := h.command(ctx, "usr/bin/hashcat", "--hash-info", "--machine-readable", "--quiet").Output()
	if err != nil {
		return nil, fmt.Errorf("hashcat --hash-info: %w", err)
	}
	c.modes, err = readModes(out)
	return c.cases(), err
}

// cases has, of each mode, what is asked of it: words from a list (-a 0), or from a mask (-a 3) where that has kernels of its own, by kernels for all passwords and by
// those for short ones (-O).
func (c *hashcat) cases() (names []string) {
	for mode, m := range c.modes {
		for _, kernel := range append(slices.Clone(m.Kernels), "")[:max(1, len(m.Kernels))] {
			short := ""
			if kernel == "optimized" {
				short = " -O"
			}
			if short != "" && len(m.Kernels) > 1 && len(m.Password) > 15 {
				continue
			}
			names = append(names, fmt.Sprintf("-m %d%s -a 0: %s", mode, short, m.Name))
			if !m.Slow && m.mask() != "" {
				names = append(names, fmt.Sprintf("-m %d%s -a 3: %s", mode, short, m.Name))
			}
		}
	}
	slices.Sort(names)
	return names
}

// readModes reads what hashcat has examples of.
func readModes(text []byte) (map[int]hashcatMode, error) {
	all := map[int]hashcatMode{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("what hashcat --hash-info says: %w", err)
	}
	for mode, m := range all {
		if mode >= bridged || m.Format == "N/A" {
			delete(all, mode)
			continue
		}
		if m.Format == "hex-encoded (binary file only)" {
			b, err := hex.DecodeString(m.Hash)
			if err != nil {
				return nil, fmt.Errorf("hashcat's example of mode %d: %w", mode, err)
			}
			m.Hash = string(b)
			all[mode] = m
		}
	}
	return all, nil
}

// mask is the password with a class of characters at its beginning and at its end, "" if that is not one of letters and digits or too long.
func (m *hashcatMode) mask() string {
	class := func(b byte) string {
		switch {
		case 'a' <= b && b <= 'z':
			return "?l"
		case 'A' <= b && b <= 'Z':
			return "?u"
		case '0' <= b && b <= '9':
			return "?d"
		}
		return ""
	}
	p, n := m.Password, len(m.Password)
	if n < 2 || n > 15 || class(p[0]) == "" || class(p[n-1]) == "" || strings.ContainsAny(p, "?$") {
		return ""
	}
	return class(p[0]) + p[1:n-1] + class(p[n-1])
}

// hashcatTry is one run: what is guessed, and what is to be found.
type hashcatTry struct {
	hashcatMode
	args  []string
	words []string // nil: a mask
}

// try writes the files for a case into dir. hashcat is told how much a launch is to do: it would measure the card, with many times more to do than there is. Once it tries
// what it was told, with all lanes of the card.
func (c *hashcat) try(name, dir string) (*hashcatTry, error) {
	args, _, _ := strings.Cut(name, ":")
	t := &hashcatTry{args: strings.Fields(args)}
	mode, err := strconv.Atoi(t.args[1])
	if err != nil {
		return nil, err
	}
	t.hashcatMode = c.modes[mode]
	hash, guess := filepath.Join(dir, "hash"), t.mask()
	if !strings.HasSuffix(args, "-a 3") {
		t.words, guess = hashcatWords(t.Password), filepath.Join(dir, "words")
		err = os.WriteFile(guess, []byte(strings.Join(t.words, "\n")+"\n"), 0o644)
	}
	loops := "1" // that a launch does
	if t.Slow {
		loops = "64"
	}
	t.args = append(t.args, "--backend-ignore-opencl", "--force", "--quiet", "--potfile-disable", "--restore-disable", "--deprecated-check-disable",
		"-n", "1", "-u", loops, "--outfile-format", "2", hash, guess)
	return t, errors.Join(err, os.WriteFile(hash, []byte(t.Hash), 0o644))
}

// hashcatWords are words, of which one is the password: as many as a wave has lanes.
func hashcatWords(password string) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 64)
	for i := range words {
		b := make([]byte, 1+r.IntN(15))
		for k := range b {
			b[k] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[r.IntN(62)]
		}
		words[i] = string(b)
	}
	words[41] = password
	return words
}

// judge reads what hashcat prints: what it has found, a line each, and what else it has to say.
func (t *hashcatTry) judge(out string, err error) (results.Verdict, string) {
	found := false
	for line := range strings.Lines(out) {
		switch line = strings.TrimSpace(line); {
		case line == t.Password:
			found = true
		case strings.Contains(line, "self-test failed"):
			return results.Failed, line
		case !t.Keeps && t.guesses(line):
			return results.Failed, fmt.Sprintf("it finds %q, which does not have the hash", line)
		}
	}
	if !found || err != nil && !t.Keeps { // the status of one that keeps guessing says that nothing is left to guess
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	}
	return results.Passed, ""
}

// guesses reports whether a word is one of the guesses.
func (t *hashcatTry) guesses(word string) bool {
	n := len(t.Password)
	return slices.Contains(t.words, word) || t.words == nil && len(word) == n && word[1:n-1] == t.Password[1:n-1]
}
