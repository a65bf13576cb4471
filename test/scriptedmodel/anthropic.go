package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// anthropicAPI: POST /v1/messages (Claude Code; opencode and others with that provider).
type anthropicAPI struct{}

func (anthropicAPI) name() string { return "anthropic" }

func (anthropicAPI) decode(r *http.Request, body []byte) (*Request, error) {
	var in struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Metadata struct {
			UserID string `json:"user_id"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{API: "anthropic", Model: in.Model, Stream: in.Stream, System: textOf(in.System), Bytes: len(body)}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Name})
	}
	req.Session = r.Header.Get("X-Claude-Code-Session-Id")
	if req.Session == "" {
		req.Session = in.Metadata.UserID
	}
	all := []string{req.System}
	for _, m := range in.Messages {
		text := textOf(m.Content)
		all = append(all, text)
		var blocks []struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
		}
		json.Unmarshal(m.Content, &blocks) // fails for plain strings: no blocks then
		// Claude Code merges consecutive user messages into one with several text blocks
		// (reminders, an interrupted prompt, the new prompt): the last real one counts. A
		// prompt that follows an interrupted tool is in one message with its result.
		isResult, interrupted, follows, said := false, false, false, stripReminders(text)
		for _, b := range blocks {
			switch b.Type {
			case "tool_result":
				isResult = true
				bumpStep(&req.NextStep, b.ToolUseID)
				req.LastResult = textOf(b.Content)
			case "text":
				if t := stripReminders(b.Text); t != "" && !strings.HasPrefix(t, "[Image: ") { // Claude Code adds where it keeps an image
					said, follows = t, interrupted
					interrupted = interrupted || strings.HasPrefix(t, "[Request interrupted")
				}
			}
		}
		if m.Role == "user" && (!isResult || follows) && said != "" {
			req.User, req.NextStep, req.LastResult = said, 0, ""
		}
		// A message sent while a turn is running arrives as a mid-conversation system
		// message next to a tool result.
		const sent = "The user sent a new message while you were working:\n"
		if i := strings.LastIndex(text, sent); i >= 0 {
			t, _, _ := strings.Cut(text[i+len(sent):], "\n\nThis is how")
			req.User, req.NextStep, req.LastResult = strings.TrimSpace(t), 0, ""
		}
	}
	// Claude Code keeps MCP tools (and some built-in ones) out of "tools" and only names them,
	// one per line, in a message; they are callable once named.
	for _, text := range all {
		for _, m := range deferredRE.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Fields(m[1]) {
				req.Tools = append(req.Tools, Tool{Name: name})
			}
		}
	}
	req.Cwd = findCwd(all...)
	return req, nil
}

var deferredRE = regexp.MustCompile(`deferred tools are now available via ToolSearch[^\n]*:\n((?:[A-Za-z0-9_-]+\n?)+)`)

func anthropicUsage(u Usage) obj {
	return obj{"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
}

func anthropicStop(a Answer) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropicAPI) stream(st *stream, req *Request, a Answer) {
	start := a.Usage
	start.Output = 1
	st.send("message_start", obj{"type": "message_start", "message": obj{
		"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": req.Model, "content": arr{},
		"stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(start)}})
	i := 0
	if a.Text != "" {
		st.send("content_block_start", obj{"type": "content_block_start", "index": i, "content_block": obj{"type": "text", "text": ""}})
		for _, c := range chunks(a.Text) {
			st.send("content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "text_delta", "text": c}})
		}
		st.send("content_block_stop", obj{"type": "content_block_stop", "index": i})
		i++
	}
	for _, c := range a.Calls {
		st.send("content_block_start", obj{"type": "content_block_start", "index": i,
			"content_block": obj{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": obj{}}})
		for _, part := range chunks(string(c.Input)) {
			st.send("content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "input_json_delta", "partial_json": part}})
		}
		st.send("content_block_stop", obj{"type": "content_block_stop", "index": i})
		i++
	}
	st.send("message_delta", obj{"type": "message_delta", "delta": obj{"stop_reason": anthropicStop(a), "stop_sequence": nil}, "usage": anthropicUsage(a.Usage)})
	st.send("message_stop", obj{"type": "message_stop"})
}

func (anthropicAPI) writeWhole(w http.ResponseWriter, req *Request, a Answer) {
	content := arr{}
	if a.Text != "" {
		content = append(content, obj{"type": "text", "text": a.Text})
	}
	for _, c := range a.Calls {
		content = append(content, obj{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": c.Input})
	}
	writeJSON(w, 200, obj{"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": req.Model,
		"content": content, "stop_reason": anthropicStop(a), "stop_sequence": nil, "usage": anthropicUsage(a.Usage)})
}

// writeError uses the vendor's own error types, which the CLIs look at.
func (anthropicAPI) writeError(w http.ResponseWriter, status int, kind, msg string) {
	if kind == "" {
		kind = map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
			404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]
		if kind == "" {
			kind = "api_error"
		}
	}
	if msg == "" {
		msg = "scripted " + strings.ReplaceAll(kind, "_", " ")
	}
	w.Header().Set("request-id", "req_"+newID(""))
	writeJSON(w, status, obj{"type": "error", "error": obj{"type": kind, "message": msg}})
}
