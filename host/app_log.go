package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	appFile = "app.log" // the app's newest output; older output is in app.log.1
	appKeep = 512 << 10 // bytes of the start in the spool and of the end; also the limit of each of the two files
	appTail = 4 << 10   // bytes of the end that a failure quotes
	olderOf = ".1"      // the suffix of the older file
)

// appLog keeps a bounded part of an app's output. The first bytes are for the
// spool. The last ones are in two files.
type appLog struct {
	path  string
	f     *os.File
	size  int64 // bytes in the newer file
	total int64 // bytes written in all
	lost  bool  // a file could not be written; nothing more is kept
}

func newAppLog(path string) *appLog { return &appLog{path: path} }

// write keeps a piece and reports how much of it is for the spool.
func (l *appLog) write(b []byte) (spooled int, err error) {
	spooled = int(max(0, min(int64(len(b)), appKeep-l.total)))
	l.total += int64(len(b))
	if l.lost {
		return spooled, nil
	}
	if err = l.keep(b); err != nil {
		l.lost = true
	}
	return spooled, err
}

func (l *appLog) keep(b []byte) (err error) {
	if l.f != nil && l.size+int64(len(b)) > appKeep {
		if err := errors.Join(l.f.Close(), os.Rename(l.path, l.path+olderOf)); err != nil {
			return err
		}
		l.f, l.size = nil, 0
	}
	if l.f == nil {
		if l.f, err = os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return err
		}
	}
	n, err := l.f.Write(b)
	l.size += int64(n)
	return err
}

// close returns the part of the end that the spool does not have, and the last
// bytes.
func (l *appLog) close() (rest []byte, tail string) {
	if l.f != nil {
		l.f.Close()
	}
	older, _ := os.ReadFile(l.path + olderOf) // missing if the app wrote little
	newer, _ := os.ReadFile(l.path)
	all := append(older, newer...)
	if missing := l.total - appKeep; missing > 0 {
		rest = all[max(0, int64(len(all))-min(missing, appKeep)):]
		if left := missing - int64(len(rest)); left > 0 {
			rest = append(fmt.Appendf(nil, "\n[... %d bytes left out ...]\n", left), rest...)
		}
	}
	return rest, strings.ToValidUTF8(strings.TrimSpace(string(all[max(0, len(all)-appTail):])), "")
}
