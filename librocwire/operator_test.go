package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOperator: in a TensorFusion pod a program finds its worker by asking the operator,
// which has one after a while. The library is preloaded, as the client's image has it.
func TestOperator(t *testing.T) {
	at := worker(t, nil, "--backend", "sim")
	port := strings.TrimPrefix(at[1], "TF_WORKER_PORT=")
	var asked atomic.Int32
	operator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer pod-token" || r.URL.Query().Get("name") != "c1" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if asked.Add(1) == 1 {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "native+127.0.0.1+%s+worker-0-1\n", port)
	}))
	defer operator.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("pod-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL=" + operator.URL + "/api/connection?name=c1&namespace=ml", "ROCWIRE_TOKEN_FILE=" + token, "LD_PRELOAD=" + library(),
	}
	if out := runs(t, env, program(t, "examples/hello_hip/hello_hip.c")); !strings.Contains(out, "PASSED") || !strings.Contains(out, "waiting for a worker") {
		t.Errorf("%s", out)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the operator was asked %d times", n)
	}
	// A program that uses no GPU asks nobody.
	if out := runs(t, env, "/bin/echo", "hello"); out != "hello\n" || asked.Load() != 2 {
		t.Errorf("%q, asked %d times", out, asked.Load())
	}
}
