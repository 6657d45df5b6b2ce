// Command show prints the version it was built with.
package main

import (
	"fmt"

	"github.com/rocwire/rocwire/internal/version"
)

func main() { fmt.Println(version.String()) }
