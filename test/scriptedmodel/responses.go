package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// responsesAPI: POST /v1/responses (Codex).
type responsesAPI struct{}

func (responsesAPI) name() string { return "responses" }

func (responsesAPI) decode(r *http.Request, body []byte) (*Request, error) {
	var in struct {
		Model          string            `json:"model"`
		Stream         bool              `json:"stream"`
		Instructions   string            `json:"instructions"`
		PromptCacheKey string            `json:"prompt_cache_key"`
		Input          json.RawMessage   `json:"input"`
		Tools          []json.RawMessage `json:"tools"`
		Text           struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{API: "responses", Model: in.Model, Stream: in.Stream, System: in.Instructions,
		Session: in.PromptCacheKey, Tools: decodeOpenAITools(in.Tools, ""), Bytes: len(body), Schema: in.Text.Format.Schema}
	all := []string{in.Instructions}
	var plain string
	if json.Unmarshal(in.Input, &plain) == nil {
		req.User = plain
		return req, nil
	}
	var items []struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Content json.RawMessage   `json:"content"`
		CallID  string            `json:"call_id"`
		Output  json.RawMessage   `json:"output"`
		Tools   []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, err
	}
	for _, it := range items {
		switch {
		case strings.HasSuffix(it.Type, "_call_output"):
			bumpStep(&req.NextStep, it.CallID)
			req.LastResult = textOf(it.Output)
			req.Searched = false // the next step can search again
		case it.Type == "tool_search_output" || it.Type == "additional_tools":
			req.Tools = append(req.Tools, decodeOpenAITools(it.Tools, "")...)
			req.Searched = true
		case it.Type == "message" || it.Type == "":
			text := textOf(it.Content)
			all = append(all, text)
			if it.Role == "developer" || it.Role == "system" {
				req.System += "\n" + text
				continue
			}
			t := stripReminders(text)
			if it.Role == "user" && t != "" && !strings.HasPrefix(t, "# AGENTS.md instructions") {
				req.User, req.NextStep, req.LastResult = t, 0, ""
			}
		}
	}
	req.Cwd = findCwd(all...)
	return req, nil
}

// responsesItems are the output items of an answer.
func responsesItems(a Answer) []obj {
	var items []obj
	if a.Text != "" {
		items = append(items, obj{"type": "message", "id": "msg_" + a.ID, "role": "assistant", "status": "completed",
			"content": arr{obj{"type": "output_text", "text": a.Text, "annotations": arr{}}}})
	}
	for _, c := range a.Calls {
		if c.Custom {
			var s string
			json.Unmarshal(c.Input, &s)
			items = append(items, obj{"type": "custom_tool_call", "id": "ctc_" + c.ID, "call_id": "call_" + c.ID, "name": c.Name, "input": s, "status": "completed"})
			continue
		}
		if strings.HasPrefix(c.ID, searchPrefix) {
			items = append(items, obj{"type": "tool_search_call", "id": "tsc_" + c.ID, "call_id": "call_" + c.ID, "execution": "client", "arguments": c.Input, "status": "completed"})
			continue
		}
		it := obj{"type": "function_call", "id": "fc_" + c.ID, "call_id": "call_" + c.ID, "name": c.Name, "arguments": string(c.Input), "status": "completed"}
		if c.Namespace != "" {
			it["namespace"] = c.Namespace
		}
		items = append(items, it)
	}
	return items
}

func responsesObject(req *Request, a Answer, status string, items []obj) obj {
	out := obj{"id": "resp_" + a.ID, "object": "response", "created_at": time.Now().Unix(), "status": status,
		"model": req.Model, "output": items, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true, "metadata": obj{}}
	if items == nil {
		out["output"] = arr{}
	}
	if status == "completed" {
		in := a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite
		out["usage"] = obj{"input_tokens": in, "input_tokens_details": obj{"cached_tokens": a.Usage.CacheRead},
			"output_tokens": a.Usage.Output, "output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": in + a.Usage.Output}
	}
	return out
}

func (responsesAPI) stream(st *stream, req *Request, a Answer) {
	seq := 0
	send := func(kind string, v obj) {
		v["type"], v["sequence_number"] = kind, seq
		seq++
		st.send(kind, v)
	}
	send("response.created", obj{"response": responsesObject(req, a, "in_progress", nil)})
	items := responsesItems(a)
	for i, it := range items {
		started := obj{}
		for k, v := range it {
			started[k] = v
		}
		started["status"] = "in_progress"
		switch it["type"] {
		case "message":
			started["content"] = arr{}
			send("response.output_item.added", obj{"output_index": i, "item": started})
			send("response.content_part.added", obj{"output_index": i, "content_index": 0, "item_id": it["id"], "part": obj{"type": "output_text", "text": "", "annotations": arr{}}})
			for _, c := range chunks(a.Text) {
				send("response.output_text.delta", obj{"output_index": i, "content_index": 0, "item_id": it["id"], "delta": c})
			}
			send("response.output_text.done", obj{"output_index": i, "content_index": 0, "item_id": it["id"], "text": a.Text})
		case "tool_search_call":
			send("response.output_item.added", obj{"output_index": i, "item": started})
		case "function_call":
			started["arguments"] = ""
			send("response.output_item.added", obj{"output_index": i, "item": started})
			send("response.function_call_arguments.delta", obj{"output_index": i, "item_id": it["id"], "delta": it["arguments"]})
			send("response.function_call_arguments.done", obj{"output_index": i, "item_id": it["id"], "arguments": it["arguments"]})
		case "custom_tool_call":
			started["input"] = ""
			send("response.output_item.added", obj{"output_index": i, "item": started})
			send("response.custom_tool_call_input.delta", obj{"output_index": i, "item_id": it["id"], "delta": it["input"]})
			send("response.custom_tool_call_input.done", obj{"output_index": i, "item_id": it["id"], "input": it["input"]})
		}
		send("response.output_item.done", obj{"output_index": i, "item": it})
	}
	send("response.completed", obj{"response": responsesObject(req, a, "completed", items)})
}

func (responsesAPI) writeWhole(w http.ResponseWriter, req *Request, a Answer) {
	writeJSON(w, 200, responsesObject(req, a, "completed", responsesItems(a)))
}

func (responsesAPI) writeError(w http.ResponseWriter, status int, kind, msg string) {
	openAIError(w, status, kind, msg)
}
