package cluster

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Image makes an archive, as docker save does, of an image of what a folder holds: with a name, and what its containers run. It says where the archive is.
func Image(t testing.TB, name, root string, command ...string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	must(w.AddFS(os.DirFS(root)))
	must(w.Close())
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64", "os": "linux", "config": map[string]any{"Cmd": command},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	must(err)
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	must(err)
	path := filepath.Join(t.TempDir(), "image.tar")
	f, err := os.Create(path)
	must(err)
	w = tar.NewWriter(f)
	for _, part := range []struct {
		name    string
		content []byte
	}{{"config.json", config}, {"layer.tar", layer.Bytes()}, {"manifest.json", manifest}} {
		must(w.WriteHeader(&tar.Header{Name: part.name, Mode: 0o644, Size: int64(len(part.content))}))
		_, err := w.Write(part.content)
		must(err)
	}
	must(w.Close())
	must(f.Close())
	return path
}
