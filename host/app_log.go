package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	appFile = "app.log" // what the app wrote last; what it wrote before that is in app.log.1
	appKeep = 512 << 10 // of its beginning in the spool, and of its end; each of the two files is bounded by it
	appTail = 4 << 10   // of it that goes into a failure
	olderOf = ".1"      // follows the name of the older file
)

// appLog keeps what an app writes, bounded: its first bytes are for the spool,
// its last ones are in two files.
type appLog struct {
	path  string
	f     *os.File
	size  int64 // of the newer file
	total int64 // of all that was written
	lost  bool  // the files take no more
}

func newAppLog(path string) *appLog { return &appLog{path: path} }

// write keeps a piece and tells how much of it is for the spool.
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

// close returns what the spool still misses of the end, and the last of all.
func (l *appLog) close() (rest []byte, tail string) {
	if l.f != nil {
		l.f.Close()
	}
	older, _ := os.ReadFile(l.path + olderOf) // not there when little was written
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
