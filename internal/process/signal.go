package process

import (
	"os"
	"os/signal"
)

// CatchIgnored catches and drops those of the signals that this process ignores,
// as under nohup. A program inherits which signals are ignored, but not which
// are caught, so the programs that this process starts obey the signals again.
func CatchIgnored(signals ...os.Signal) {
	for _, s := range signals {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
