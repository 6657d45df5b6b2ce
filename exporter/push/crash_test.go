package push

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const childVariable = "PUSH_TEST_CHILD"

func TestMain(m *testing.M) {
	if v := os.Getenv(childVariable); v != "" {
		dir, first, _ := strings.Cut(v, ":")
		n, _ := strconv.ParseUint(first, 10, 64)
		child(dir, n)
	}
	os.Exit(m.Run())
}

// child puts records until it is killed and says each time that Put returned; what it
// sends it writes to a file.
func child(dir string, next uint64) {
	sent, err := os.OpenFile(filepath.Join(dir, "sent"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	p, err := Open(Options{Name: "test", Dir: dir, MaxBytes: 64 << 20, Send: func(_ context.Context, b []byte) error {
		_, err := fmt.Fprintln(sent, number(b))
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		return err
	}})
	if err != nil {
		panic(err)
	}
	go p.Run(context.Background())
	for ; ; next++ {
		if err := p.Put(payload(next, rand.IntN(20000))); err != nil {
			panic(err)
		}
		fmt.Println(next)
		time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	}
}

// A process that is killed again and again while it puts and sends loses nothing for
// which Put returned, and sends nothing twice but what was on its way.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := map[uint64]bool{}
	last := uint64(0)
	const kills = 15
	for range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d", childVariable, dir, last+2)) // one more may have been put
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		stop := rand.IntN(300)
		for n := 0; lines.Scan(); n++ {
			if last, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
			acked[last] = true
			if n == stop {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the child ends by itself: %v", err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "sent"))
	if err != nil {
		t.Fatal(err)
	}
	var all []uint64
	for _, s := range strings.Fields(string(b)) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	before := len(all)
	p := open(t, Options{Dir: dir, MaxBytes: 64 << 20})
	all = append(all, takeAll(t, p)...)
	twice, previous := 0, uint64(0)
	for _, n := range all {
		if n < previous {
			t.Errorf("%d after %d", n, previous)
		}
		if n == previous {
			twice++
		}
		previous = n
		delete(acked, n)
	}
	if len(acked) > 0 || twice > kills || before == 0 {
		t.Errorf("lost: %v; %d twice with %d kills; %d sent before the end", acked, twice, kills, before)
	}
	t.Logf("%d records, %d twice, %d after the last kill", len(all), twice, len(all)-before)
}
