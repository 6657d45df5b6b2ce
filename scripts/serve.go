//go:build ignore

// Command serve serves a folder by HTTP on a free port of loopback, which it prints: what images.sh has instead of AMD's server.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", l.Addr())
	log.Fatal(http.Serve(l, http.FileServer(http.Dir(os.Args[1]))))
}
