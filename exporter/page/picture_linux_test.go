package page

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// pictureFile is the picture of the page that README.md shows, and pictureNotes what was on the page when it was taken: the picture's
// digest, that of the style, and the outline. The figures are other ones each time.
const (
	pictureFile  = "../../docs/page.webp"
	pictureNotes = "testdata/picture.txt"
)

// outline is what a page has that does not change with its figures, a line each.
const outline = `[...document.querySelectorAll("nav a, .buttons button, h2, h3, th, figcaption b, .tile dt, .gauge .label, dl.line dt")].map((e) => e.textContent.replace(/[0-9]+/g, "0").replace(/[^ -~]/g, "").trim()).join("\n")`

func digest(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// notePicture writes the notes of a picture that was just taken.
func notePicture(t *testing.T, file, outline string) {
	t.Helper()
	notes := digest(t, file) + "\n" + digest(t, "assets/page.css") + "\n" + outline + "\n"
	if err := os.WriteFile(pictureNotes, []byte(notes), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pictureOutline is the outline of the page when the picture was taken.
func pictureOutline(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(pictureNotes)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	return strings.TrimSuffix(rest, "\n")
}

// The notes are of this picture, and the page has the style it had then. TestLiveWorker looks whether it has the same parts.
func TestPicture(t *testing.T) {
	b, err := os.ReadFile(pictureNotes)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < 20 {
		t.Fatalf("%s has %d lines", pictureNotes, len(lines))
	}
	if lines[0] != digest(t, pictureFile) {
		t.Errorf("%s is of another picture than %s", pictureNotes, pictureFile)
	}
	if lines[1] != digest(t, "assets/page.css") {
		t.Errorf("%s is older than the style of the page: make picture", pictureFile)
	}
}
