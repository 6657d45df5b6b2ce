package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const hashcatInfo = `{ "0": { "name": "MD5", "slow_hash": false, "kernel_type": [ "pure", "optimized" ], "example_hash_format": "plain", "example_hash": "8743b520", "example_pass": "hashcat" },
"2500": { "name": "WPA", "slow_hash": true, "kernel_type": [ "pure" ], "example_hash_format": "hex-encoded (binary file only)", "example_hash": "4843ff", "example_pass": "hashcat!" },
"14600": { "name": "LUKS", "example_hash_format": "N/A", "example_hash": "N/A", "example_pass": "N/A" },
"70000": { "name": "Argon2id [Bridged]", "example_hash_format": "plain", "example_hash": "$x", "example_pass": "hashcat" } }`

func TestHashcatModes(t *testing.T) {
	modes, err := readModes([]byte(hashcatInfo))
	if err != nil || len(modes) != 2 || modes[0].Hash != "8743b520" || modes[2500].Hash != "HC\xff" {
		t.Fatalf("%+v, %v", modes, err)
	}
	c, dir := &hashcat{modes: modes}, t.TempDir()
	if got, want := c.cases(), []string{"-m 0 -O -a 0: MD5", "-m 0 -O -a 3: MD5", "-m 0 -a 0: MD5", "-m 0 -a 3: MD5", "-m 2500 -a 0: WPA"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for name, guess := range map[string]string{"-m 0 -O -a 3: MD5": "?lashca?l", "-m 2500 -a 0: WPA -a 3": filepath.Join(dir, "words")} {
		r, err := c.try(name, dir)
		if err != nil || r.args[len(r.args)-1] != guess || strings.Join(r.args, " ")[:8] != name[:8] {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "hash")); err != nil || string(b) != r.Hash {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "words")); err != nil || strings.Count(string(b), "\n") != 64 || !strings.Contains(string(b), "\nhashcat!\n") {
		t.Errorf("%q, %v", b, err)
	}
	for _, text := range []string{"", "{", `{ "x": {} }`, strings.Replace(hashcatInfo, "4843ff", "484", 1)} {
		if _, err := readModes([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestHashcatMasks(t *testing.T) {
	for password, want := range map[string]string{"hashcat": "?lashca?l", "HASHCAT1": "?uASHCAT?d", "admin": "?ldmi?l", "hashcat!": "", "$HEX[91b2]": "", "a": "", "a?b": "", "hashcathashcathashcat": ""} {
		if got := (&hashcatMode{Password: password}).mask(); got != want {
			t.Errorf("%q: %q", password, got)
		}
	}
}

func TestHashcatJudge(t *testing.T) {
	exhausted := errors.New("exit status 1")
	other := hashcatWords("hashcat")[3]
	for i, c := range []struct {
		keeps, mask bool
		out         string
		err         error
		want        results.Verdict
	}{
		{out: "/sys/bus/pci: No such file\n\nhashcat\n", want: results.Passed},
		{mask: true, out: "hashcat\n", want: results.Passed},
		{out: "", err: exhausted, want: results.Failed},
		{out: "", want: results.Failed},
		{out: "hashcat\n", err: exhausted, want: results.Failed},
		{keeps: true, out: "hashcat\n" + other + "\n", err: exhausted, want: results.Passed},
		{out: "hashcat\n" + other + "\n", want: results.Failed},
		{mask: true, out: "hashcat\nxashcax\n", want: results.Failed},
		{out: "* Device #1: ATTENTION! HIP kernel self-test failed.\nhashcat\n", want: results.Failed},
	} {
		r := &hashcatTry{hashcatMode: hashcatMode{Password: "hashcat", Keeps: c.keeps}}
		if !c.mask {
			r.words = hashcatWords("hashcat")
		}
		if got, why := r.judge(c.out, c.err); got != c.want || (why != "") != (got == results.Failed) {
			t.Errorf("%d: %s", i, fmt.Sprint(got, why))
		}
	}
}
