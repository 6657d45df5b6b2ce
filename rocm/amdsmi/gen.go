package amdsmi

//go:generate go run ./internal/gen
