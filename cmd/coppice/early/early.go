// Package early runs hosts before most of the program is initialized.
//
// Go initializes a package after its imports, and otherwise in the order of import paths.
// So a function init here runs before the packages of commands, forges and notifications
// make their tables and compile their patterns. A host needs none of them, and there is
// one host per session.
package early

import (
	"context"
	"log/slog"
	"os"

	"coppice/cmd/coppice/protocols"
	"coppice/host"
)

func init() {
	if len(os.Args) < 3 || os.Args[1] != "host" {
		return
	}
	// While packages are initialized, this goroutine is bound to the main thread, which
	// would make each of its waits two switches of threads.
	code := make(chan int)
	go func() {
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		code <- host.Main(context.Background(), os.Args[2], protocols.All(), log)
	}()
	os.Exit(<-code)
}
