package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/keys"
	"github.com/rocwire/rocwire/internal/libcrypto"
	"github.com/rocwire/rocwire/wire"
)

// secured shakes hands with a client of the TLS rows; dir has the keys, none for no TLS.
func secured(conn net.Conn, dir string) (net.Conn, error) {
	if dir == "" {
		return conn, nil
	}
	d := keys.Dir{Path: dir}
	pair, err := tls.LoadX509KeyPair(d.Cert(keys.Server), d.Key(keys.Server))
	if err != nil {
		return nil, err
	}
	return wire.SecureServer(context.Background(), conn, &tls.Config{Certificates: []tls.Certificate{pair}})
}

// wireTLS measures the same calls and copies with and without TLS, in turn.
func wireTLS(t *table, _ *floor, dir string) error {
	d := keys.Dir{Path: filepath.Join(dir, "keys"), Days: 1}
	if err := d.Init([]string{"127.0.0.1"}, nil); err != nil {
		return err
	}
	plain, stop, err := startLocal()
	if err != nil {
		return err
	}
	defer stop()
	safe, stop, err := startWire("127.0.0.1:0", d.Path, func(o wire.Options) (*wire.Client, error) {
		s := dialing.Settings{TLS: dialing.TLS{CA: d.Cert(keys.CA)}}
		if err := s.Apply(&o); err != nil {
			return nil, err
		}
		return wire.Dial(context.Background(), o)
	})
	if err != nil {
		return err
	}
	defer stop()
	memory := touched(*size)
	var to, from, call [2][]float64
	var alone, bound [2][]float64 // making records, opening them
	m := wire.GetMsg()
	m.Req = make([]byte, callBytes)
	for i := range *rounds + 1 {
		for side, c := range []*wire.Client{plain, safe} {
			start := time.Now()
			if err := copyTo(c, memory, 0); err != nil {
				return err
			}
			there := float64(len(memory)) / time.Since(start).Seconds()
			start = time.Now()
			if err := copyFrom(c, memory, 0); err != nil {
				return err
			}
			back := float64(len(memory)) / time.Since(start).Seconds()
			times := make([]float64, *calls)
			for k := range times {
				start = time.Now()
				if err := c.Call(opEcho, m); err != nil {
					return err
				}
				times[k] = float64(time.Since(start))
			}
			slices.Sort(times)
			if i > 0 { // the first round warms up
				to[side], from[side], call[side] = append(to[side], there), append(from[side], back), append(call[side], times[len(times)/2])
			}
		}
		if i == 0 {
			continue
		}
		made, opened, err := cipherAlone(memory)
		if err != nil {
			return err
		}
		for k, v := range []float64{made, opened} {
			alone[k] = append(alone[k], v)
		}
		slow := min(made, opened) // the side that has more to do is what a copy is as fast as
		for k, plain := range []float64{to[0][i-1], from[0][i-1]} {
			bound[k] = append(bound[k], 1/(1/plain+1/slow))
		}
	}
	mib := fmt.Sprintf("tls: %d MiB", *size>>20)
	t.row(mib+" to the server, floor without TLS", to[0], to[1], rate, 0.6, true)
	t.row(mib+" from the server, floor without TLS", from[0], from[1], rate, 0.6, true)
	t.row(mib+" to the server, floor what plain and the cipher take one after the other", bound[0], to[1], rate, 0, true)
	t.row(mib+" from the server, likewise", bound[1], from[1], rate, 0, true)
	t.row("tls: records opened, one core, floor records made", alone[0], alone[1], rate, 0, true)
	by := "crypto/aes" // a figure means little without it
	if used, version := libcrypto.Use(); used {
		by = version
	}
	t.plain("tls: long records encrypted by", by, "")
	t.row("tls: sync call p50, floor without TLS", call[0], call[1], micros, 0, false)
	return nil
}

// cipherAlone is how many bytes of records one core makes in a second of what lies in memory, and opens to there, with nothing else to do. As in a copy
// the data is not in the core's caches, which takes a fast cipher longer than the cipher itself.
func cipherAlone(memory []byte) (made, opened float64, err error) {
	const record, ring = 16 << 10, 2 << 20 // what a connection's buffer has
	key := make([]byte, 16)
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, 0, err
	}
	small, err := cipher.NewGCM(block)
	if err != nil {
		return 0, 0, err
	}
	c, nonce := libcrypto.AESGCM(key, small), make([]byte, small.NonceSize())
	memory = memory[:len(memory)/record*record]
	if len(memory) < ring {
		return 0, 0, fmt.Errorf("%d bytes are too few for the rows of TLS", len(memory))
	}
	boxes := make([][]byte, ring/record)
	for i := range boxes {
		boxes[i] = make([]byte, 0, record+small.Overhead())
	}
	start := time.Now()
	for at := 0; at < len(memory); at += record {
		i := at / record % len(boxes)
		boxes[i] = c.Seal(boxes[i][:0], nonce, memory[at:at+record], nil)
	}
	made = float64(len(memory)) / time.Since(start).Seconds()
	start = time.Now()
	for at := 0; at < len(memory); at += record {
		if _, err = c.Open(memory[at:at], nonce, boxes[at/record%len(boxes)], nil); err != nil {
			return 0, 0, err
		}
	}
	return made, float64(len(memory)) / time.Since(start).Seconds(), nil
}

// keysArgument is the directory of the server process's keys, none if it is not given.
func keysArgument() string {
	if len(os.Args) > 3 {
		return os.Args[3]
	}
	return ""
}
