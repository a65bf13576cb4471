package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// chatAPI: POST /v1/chat/completions (Qwen Code, opencode with an OpenAI-compatible provider).
type chatAPI struct{}

func (chatAPI) name() string { return "chat" }

func (chatAPI) decode(r *http.Request, body []byte) (*Request, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		User     string `json:"user"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{API: "chat", Model: in.Model, Stream: in.Stream, Session: in.User, Tools: decodeOpenAITools(in.Tools, ""), Bytes: len(body)}
	var all []string
	for _, m := range in.Messages {
		text := textOf(m.Content)
		all = append(all, text)
		switch m.Role {
		case "system", "developer":
			req.System += text + "\n"
		case "tool":
			bumpStep(&req.NextStep, m.ToolCallID)
			req.Searched = strings.Contains(m.ToolCallID, searchPrefix)
			req.LastResult = text
		case "user":
			if t := stripReminders(text); t != "" {
				req.User, req.NextStep, req.LastResult = t, 0, ""
			}
		}
	}
	req.Cwd = findCwd(all...)
	return req, nil
}

func chatFinish(a Answer) string {
	switch {
	case a.Stop == "max_tokens":
		return "length"
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u Usage) obj {
	in := u.Input + u.CacheRead + u.CacheWrite
	return obj{"prompt_tokens": in, "completion_tokens": u.Output, "total_tokens": in + u.Output,
		"prompt_tokens_details": obj{"cached_tokens": u.CacheRead}}
}

func (chatAPI) stream(st *stream, req *Request, a Answer) {
	chunk := func(delta obj, finish any) obj {
		return obj{"id": "chatcmpl-" + a.ID, "object": "chat.completion.chunk", "created": time.Now().Unix(), "model": req.Model,
			"choices": arr{obj{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	st.send("", chunk(obj{"role": "assistant", "content": ""}, nil))
	if a.Text != "" {
		for _, c := range chunks(a.Text) {
			st.send("", chunk(obj{"content": c}, nil))
		}
	}
	for i, c := range a.Calls {
		st.send("", chunk(obj{"tool_calls": arr{obj{"index": i, "id": "call_" + c.ID, "type": "function",
			"function": obj{"name": c.Name, "arguments": ""}}}}, nil))
		st.send("", chunk(obj{"tool_calls": arr{obj{"index": i, "function": obj{"arguments": string(c.Input)}}}}, nil))
	}
	st.send("", chunk(obj{}, chatFinish(a)))
	last := chunk(obj{}, nil)
	last["choices"], last["usage"] = arr{}, chatUsage(a.Usage)
	st.send("", last)
	st.send("", "[DONE]")
}

func (chatAPI) writeWhole(w http.ResponseWriter, req *Request, a Answer) {
	msg := obj{"role": "assistant", "content": a.Text}
	var calls arr
	for _, c := range a.Calls {
		calls = append(calls, obj{"id": "call_" + c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": string(c.Input)}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	writeJSON(w, 200, obj{"id": "chatcmpl-" + a.ID, "object": "chat.completion", "created": time.Now().Unix(), "model": req.Model,
		"choices": arr{obj{"index": 0, "message": msg, "finish_reason": chatFinish(a)}}, "usage": chatUsage(a.Usage)})
}

func (chatAPI) writeError(w http.ResponseWriter, status int, kind, msg string) {
	openAIError(w, status, kind, msg)
}
