// Command cmd serves scripted model replies on 127.0.0.1, for trying an agent
// CLI by hand:
//
//	go run ./test/scriptedmodel/cmd -port 8765 -rules test/scriptedmodel/rules.json
//
// Port 0 picks a free port. The address is printed as "listening
// http://127.0.0.1:PORT" before anything is served; requests are traced to
// stderr as JSON lines.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"coppice/test/scriptedmodel"
)

func main() {
	port := flag.Int("port", 8765, "TCP port on 127.0.0.1 (0: any free port)")
	file := flag.String("rules", "", "JSON rules file (empty: every prompt is answered \"ok\")")
	flag.Parse()
	if err := serve(*port, *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(port int, file string) error {
	var rules *scriptedmodel.Rules
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if rules, err = scriptedmodel.ParseRules(data); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	fmt.Printf("listening http://%s\n", ln.Addr())
	return http.Serve(ln, scriptedmodel.New(rules, os.Stderr))
}
