package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/internal/llamacpp"
)

// llamaServer is a llama-server with the model. It listens on a socket in a folder of its own.
type llamaServer struct {
	cmd   *exec.Cmd
	http  *http.Client
	log   bytes.Buffer // complete once it ended
	ended chan struct{}
}

var errEnded = errors.New("llama-server ended")

// startLlama starts a server. Its GPU backend is what lies in folder, which becomes its working directory: there it looks for backends.
func startLlama(ctx context.Context, o *options, folder, model string, env []string, flags ...string) (*llamaServer, error) {
	socket := filepath.Join(folder, "llama.sock") // a socket, because of its suffix
	_ = os.Remove(socket)
	cmd := llamacpp.Program(ctx, o.tree, o.lib, "llama-server",
		append([]string{"--model", model, "--host", socket, "--threads", "1", "--offline"}, flags...)...)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	s := &llamaServer{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	s.http = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("llama-server: %w", err)
	}
	go func() {
		_ = cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// ready waits until the model is loaded.
func (s *llamaServer) ready(ctx context.Context) error {
	for {
		if r, err := s.http.Get("http://llama/health"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%w: %s", errEnded, tail(s.log.String(), 1000))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *llamaServer) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.ended
}

// choice is one token that was generated: its number, its log-probability, and how far below it the second best lay.
type choice struct {
	token    int
	logProb  float64
	distance float64
}

// complete has the server go on from a prompt, always by the best token.
func (s *llamaServer) complete(ctx context.Context, prompt []int, n int) ([]choice, error) {
	question, err := json.Marshal(map[string]any{
		"prompt": prompt, "n_predict": n, "n_probs": 2, "temperature": 0, "seed": 1, "ignore_eos": true, "cache_prompt": false, "return_tokens": true,
	})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://llama/completion", bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	reply, err := s.http.Do(r)
	if err != nil {
		select {
		case <-s.ended:
			return nil, fmt.Errorf("%w: %s", errEnded, tail(s.log.String(), 1000))
		case <-time.After(time.Second):
			return nil, err
		}
	}
	defer reply.Body.Close()
	return readChoices(json.NewDecoder(reply.Body), n)
}

// readChoices reads the answer of complete.
func readChoices(from *json.Decoder, n int) ([]choice, error) {
	type probability struct {
		ID      int     `json:"id"`
		LogProb float64 `json:"logprob"`
	}
	var answer struct {
		Tokens        []int `json:"tokens"`
		Probabilities []struct {
			Top []probability `json:"top_logprobs"`
		} `json:"completion_probabilities"`
	}
	if err := from.Decode(&answer); err != nil {
		return nil, fmt.Errorf("llama-server's answer: %w", err)
	}
	if len(answer.Tokens) != n || len(answer.Probabilities) != n {
		return nil, fmt.Errorf("llama-server generated %d tokens and %d probabilities, not %d", len(answer.Tokens), len(answer.Probabilities), n)
	}
	all := make([]choice, n)
	for i, t := range answer.Tokens {
		top := answer.Probabilities[i].Top
		if len(top) != 2 || top[0].ID != t {
			return nil, fmt.Errorf("llama-server chose token %d and says that the best were %v", t, top)
		}
		all[i] = choice{t, top[0].LogProb, top[0].LogProb - top[1].LogProb}
	}
	return all, nil
}
