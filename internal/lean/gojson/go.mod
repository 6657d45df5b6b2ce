// What Apache Arrow uses of this module. See doc.go.
module github.com/goccy/go-json

go 1.26
