// Command web is an empty HTTP server: the baseline of the control process's start
// and idle memory.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
	fmt.Printf("serves http://%s\n", l.Addr())
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	fmt.Fprintln(os.Stderr, "web:", err)
	os.Exit(1)
}
