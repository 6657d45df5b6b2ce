package worker_test

// client is what the test binary does as a client process: see the tests that start one.
func client(args []string) {}
