package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

const (
	mostFile    = 8 << 20 // bytes of a picture that is read from a file
	mostPending = 1000    // calls that wait for an answer
)

// watcher finds the pictures in a conversation between an agent and the tool
// server: those in a result, and those that a result says were written to a file.
type watcher struct {
	keep func(picture []byte) error
	log  *slog.Logger

	mu      sync.Mutex
	pending map[string]string // calls for a screenshot by their id; the file they name, if any
}

// screenshot is the tool whose result can be a file.
const screenshot = "take_screenshot"

// call has the fields of a request that matter here.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			FilePath string `json:"filePath"`
		} `json:"arguments"`
	} `json:"params"`
}

// result has the fields of an answer that matter here.
type result struct {
	ID     json.RawMessage `json:"id"`
	Result struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
	} `json:"result"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Data string `json:"data"`
}

// asked handles a line from the agent.
func (w *watcher) asked(line []byte) {
	if !bytes.Contains(line, []byte(screenshot)) {
		return
	}
	each(line, func(c call) {
		if c.Method != "tools/call" || c.Params.Name != screenshot || len(c.ID) == 0 {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.pending == nil || len(w.pending) >= mostPending {
			w.pending = map[string]string{}
		}
		w.pending[string(c.ID)] = c.Params.Arguments.FilePath
	})
}

// answered handles a line from the tool server. It returns when the pictures in it
// are kept, because the agent can exit as soon as it has read the line.
func (w *watcher) answered(line []byte) {
	w.mu.Lock()
	waiting := len(w.pending) > 0
	w.mu.Unlock()
	if !waiting && !bytes.Contains(line, []byte(`"image"`)) {
		return
	}
	each(line, w.result)
}

func (w *watcher) result(r result) {
	w.mu.Lock()
	file, ours := w.pending[string(r.ID)]
	delete(w.pending, string(r.ID))
	w.mu.Unlock()
	found := false
	for _, c := range r.Result.Content {
		if c.Type != "image" {
			continue
		}
		found = true
		picture, err := base64.StdEncoding.DecodeString(c.Data)
		if err == nil {
			err = w.keep(picture)
		}
		w.tell(err)
	}
	if !ours || found || r.Result.IsError {
		return
	}
	if name := saved(r.Result.Content); name != "" {
		file = name
	}
	if file == "" {
		return
	}
	picture, err := readPicture(file)
	if err == nil {
		err = w.keep(picture)
	}
	w.tell(err)
}

func (w *watcher) tell(err error) {
	if err != nil {
		w.log.Warn("a picture was not kept as evidence", "error", err)
	}
}

// each decodes a line with one message or an array of them. It ignores other lines.
func each[T any](line []byte, take func(T)) {
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '[' {
		var all []T
		if json.Unmarshal(line, &all) == nil {
			for _, m := range all {
				take(m)
			}
		}
		return
	}
	var one T
	if json.Unmarshal(line, &one) == nil {
		take(one)
	}
}

// sentence is the text with which the tool server names the file of a picture. It
// also writes large pictures to a file without being asked.
var sentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Saved screenshot to (.+)\.$`) })

func saved(all []content) string {
	for _, c := range all {
		if m := sentence().FindStringSubmatch(c.Text); c.Type == "text" && m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}

// readPicture reads a file that the tool server named, which can be anything.
func readPicture(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading a picture: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading a picture: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("reading a picture: it is not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading a picture: %w", err)
	}
	if len(b) > mostFile {
		return nil, fmt.Errorf("reading a picture: it is larger than %d bytes", mostFile)
	}
	return b, nil
}
