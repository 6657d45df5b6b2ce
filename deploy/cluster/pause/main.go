// Command pause is the first process of a pod's sandbox, and of containers that wait for what is to be run in them: it does nothing until it is to end.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
}
