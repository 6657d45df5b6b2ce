// Package docs has no code: its tests run what the pages tell readers to type, and look
// whether the pages find each other. The picture of the architecture is drawn from text.
package docs

//go:generate go run ./internal/gen -o architecture.svg architecture.txt
