package greptime

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/greptime/greptimetest"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/smi"
)

// victim is an exporter that puts numbered readings, and says so, until it is killed.
func victim(address, dir, first string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "exporter:", err)
		os.Exit(1)
	}
	n, err := strconv.Atoi(first)
	if err != nil {
		fail(err)
	}
	var reading exporter.Reading
	s, err := Open(Options{Address: address}, rows.RunnerOptions{
		Options: rows.Options{Interval: time.Hour}, Place: place, Queue: push.Options{Dir: dir}, Read: func() exporter.Reading { return reading },
	})
	if err != nil {
		fail(err)
	}
	go s.Run(context.Background())
	for ; ; n++ {
		reading = numbered(n)
		s.Put()
		fmt.Println(n)
		time.Sleep(5 * time.Millisecond)
	}
}

// numbered is a reading whose time and figures tell its number.
func numbered(n int) exporter.Reading {
	return exporter.Reading{Time: time.UnixMilli(int64(1_790_000_000_000 + 15_000*n)), Cards: []exporter.Card{{Fresh: true, DeviceSnapshot: smi.DeviceSnapshot{
		Device: smi.Device{UUID: "card"}, Metrics: &smi.Metrics{Power: smi.Power{Socket: smi.Some(smi.Watts(n))}},
	}}}}
}

// Exporters are killed at any moment, the server goes away and comes back, and every
// reading that was put is there once.
func TestKilled(t *testing.T) {
	s := serve(t, &greptimetest.Server{})
	dir := t.TempDir()
	put := map[int]bool{}
	next := 0
	run := func(readings int, ended func()) {
		t.Helper()
		cmd := exec.Command(os.Args[0], "__exporter", s.Address(), dir, strconv.Itoa(next))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range readings {
			if !lines.Scan() {
				t.Fatal("the exporter ended by itself")
			}
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			put[n], next = true, n+1
		}
		ended()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said meanwhile
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				put[n], next = true, n+1
			}
		}
		_ = cmd.Wait() // it was killed
		next++         // the reading it was killed at may be there or not
	}
	run(50, func() {})
	run(30, s.Stop)
	run(100, func() {}) // with nobody to send to
	run(20, func() {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	})
	run(10, func() {
		wait(t, "everything is there", func() bool {
			there := s.Tables()["tf_gpu_usage"].Rows
			for n := range put {
				if _, ok := there[rowKey(n)]; !ok {
					return false
				}
			}
			return true
		})
	})
	for key, r := range s.Tables()["tf_gpu_usage"].Rows {
		n := int(r["power_usage"].(float64))
		if r["ts"] != numbered(n).Time.UnixMilli() || key != rowKey(n) {
			t.Errorf("row %q: %v", key, r)
		}
	}
	t.Logf("%d readings, rows that arrived twice: %d", len(put), s.Tables()["tf_gpu_usage"].Again)
}

// rowKey is how the server names the row of a card of a reading.
func rowKey(n int) string {
	return fmt.Sprintf("card\x00%s\x00%s\x00%d\x00", place.Host, place.Pool, numbered(n).Time.UnixMilli())
}
