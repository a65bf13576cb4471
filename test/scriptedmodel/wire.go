package scriptedmodel

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Request is what the four wire formats have in common, as far as scripting needs it.
type Request struct {
	API        string
	Model      string
	Session    string // whatever identifies the conversation, when the client sends it
	Stream     bool
	System     string
	User       string // last message a person (or the orchestrator) wrote
	LastResult string // text of the last tool result after it
	NextStep   int    // index of the step to play
	Tools      []Tool
	Searched   bool            // the last result in the conversation is that of a tool_search
	Cwd        string          // working directory, as the CLI names it to the model
	Schema     json.RawMessage // of the reply
	Bytes      int
	Keyed      bool // it came with a key of some form
}

// Tool is one tool on offer in the request.
type Tool struct {
	Name      string
	Namespace string
	Custom    bool
}

// wireAPI is one vendor's format.
type wireAPI interface {
	name() string
	decode(r *http.Request, body []byte) (*Request, error)
	stream(st *stream, req *Request, a Answer)
	writeWhole(w http.ResponseWriter, req *Request, a Answer)
	writeError(w http.ResponseWriter, status int, kind, msg string)
}

// keyed reports whether a request has a key, in the form of any vendor.
func keyed(r *http.Request) bool {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	token := strings.TrimSpace(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer"))
	return token != "" || r.URL.Query().Get("key") != ""
}

// ---- ids ------------------------------------------------------------------------------

func newID(prefix string) string {
	b := make([]byte, 8)
	rand.Read(b)
	return prefix + hex.EncodeToString(b)
}

// stepID makes a tool call id that carries the step number: sNNcNNx<random>.
func stepID(step, call int) string { return fmt.Sprintf("s%02dc%02dx%s", step, call, newID("")) }

// searchPrefix marks the id of a tool search call; see exactCall.
const searchPrefix = "search_"

var stepIDRE = regexp.MustCompile(`s(\d\d)c\d\dx[0-9a-f]{16}`)

// bumpStep raises *next to one past the step number inside a tool call id, if it has one.
func bumpStep(next *int, id string) {
	if m := stepIDRE.FindStringSubmatch(id); m != nil {
		if n, _ := strconv.Atoi(m[1]); n+1 > *next {
			*next = n + 1
		}
	}
}

// ---- text helpers -----------------------------------------------------------------------

// reminderRE: text the CLIs add around what the user wrote. It must not trigger rules.
var reminderRE = regexp.MustCompile(`(?s)<(system-reminder|environment_context|user_instructions|permissions instructions|session_context)>.*?</(system-reminder|environment_context|user_instructions|permissions instructions|session_context)>`)

func stripReminders(s string) string { return strings.TrimSpace(reminderRE.ReplaceAllString(s, "")) }

// pathPat is an absolute path up to the first character that ends one in prose or markup.
const pathPat = "(/[^\\s<>\"'`\\\\]+)"

var cwdREs = []*regexp.Regexp{
	regexp.MustCompile(`<cwd>([^<]+)</cwd>`),                                                          // Codex
	regexp.MustCompile("(?i)(?:primary |current )?working directory:\\s*`?" + pathPat),                // Claude Code, opencode
	regexp.MustCompile(`(?i)working in the(?: following)? director(?:y|ies):?\s*(?:-\s*)?` + pathPat), // Qwen Code
	regexp.MustCompile(`(?i)workspace directories:?\*{0,2}\s*-?\s*` + pathPat),                        // Gemini CLI
	regexp.MustCompile(`(?i)\bcwd:?\s*` + "`?" + pathPat),                                             // Claude Code --bare
}

// findCwd looks for the working directory in the prompt text.
func findCwd(texts ...string) string {
	for _, re := range cwdREs {
		for _, t := range texts {
			if m := re.FindStringSubmatch(t); m != nil {
				return strings.TrimRight(m[1], ".,;")
			}
		}
	}
	return ""
}

// textOf flattens the "string, or list of blocks with text" shape all vendors use.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var out []string
	for _, b := range blocks {
		if b.Text != "" {
			out = append(out, b.Text)
		} else if len(b.Content) > 0 {
			out = append(out, textOf(b.Content))
		}
	}
	return strings.Join(out, "\n")
}

// ---- streaming --------------------------------------------------------------------------

// stream writes server-sent events, with the stalls and cuts a step may ask for.
type stream struct {
	w    http.ResponseWriter
	r    *http.Request
	step Step
	n    int
	dead bool
}

func newStream(w http.ResponseWriter, r *http.Request, step Step) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(200)
	return &stream{w: w, r: r, step: step}
}

// send emits one event. name may be empty (OpenAI chat and Gemini send data lines only).
func (s *stream) send(name string, v any) {
	if s.dead {
		return
	}
	if s.n > 0 && s.step.ChunkDelayMS > 0 {
		select {
		case <-time.After(time.Duration(s.step.ChunkDelayMS) * time.Millisecond):
		case <-s.r.Context().Done():
			s.dead = true
			return
		}
	}
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	if str, ok := v.(string); ok {
		fmt.Fprintf(s.w, "data: %s\n\n", str)
	} else {
		fmt.Fprintf(s.w, "data: %s\n\n", mustJSON(v))
	}
	s.w.(http.Flusher).Flush()
	s.n++
	if s.n == 1 { // the stream has started: now is the time to misbehave
		switch {
		case s.step.Hang:
			<-s.r.Context().Done()
			s.dead = true
		case s.step.Drop:
			s.dead = true
			panic(http.ErrAbortHandler) // cuts the TCP connection
		}
	}
}

// chunks cuts text into a few pieces, so that clients see real deltas.
func chunks(s string) []string {
	const size = 40
	var out []string
	r := []rune(s)
	for len(r) > size {
		out = append(out, string(r[:size]))
		r = r[size:]
	}
	return append(out, string(r))
}
