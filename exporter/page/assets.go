package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var files embed.FS

// asset is one file as it is sent.
type asset struct {
	kind string
	body []byte
}

// assets are all files, and assetVersion names what they hold: files
// under another version are others, so that a browser may keep them.
var assets, assetVersion = readAssets()

var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func readAssets() (map[string]asset, string) {
	list, sum := map[string]asset{}, sha256.New()
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, e := range entries {
		b, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		if kind := kinds[path.Ext(e.Name())]; kind != "" {
			list[e.Name()] = asset{kind, b}
			sum.Write(b)
		}
	}
	return list, hex.EncodeToString(sum.Sum(nil))[:16]
}

// serveAsset serves a file. An older page may still ask for those it knows: it gets
// today's, but may not keep them.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.PathValue("file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	if r.PathValue("version") == assetVersion {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	send(w, r, a.body)
}
