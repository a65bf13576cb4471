package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAIError is shared by both OpenAI formats.
func openAIError(w http.ResponseWriter, status int, kind, msg string) {
	if kind == "" {
		kind = map[int]string{400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded"}[status]
		if kind == "" {
			kind = "server_error"
		}
	}
	if msg == "" {
		msg = "scripted " + strings.ReplaceAll(kind, "_", " ")
	}
	writeJSON(w, status, obj{"error": obj{"message": msg, "type": kind, "code": kind, "param": nil}})
}

// decodeOpenAITools handles {"type":"function","name"} (Responses),
// {"type":"function","function":{"name"}} (Chat), custom tools and namespaces.
func decodeOpenAITools(raw []json.RawMessage, namespace string) []Tool {
	var out []Tool
	for _, r := range raw {
		var t struct {
			Type     string `json:"type"`
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Tools []json.RawMessage `json:"tools"`
		}
		if json.Unmarshal(r, &t) != nil {
			continue
		}
		switch {
		case t.Type == "namespace":
			out = append(out, decodeOpenAITools(t.Tools, t.Name)...)
		case t.Function.Name != "":
			out = append(out, Tool{Name: t.Function.Name})
		case t.Name != "":
			out = append(out, Tool{Name: t.Name, Namespace: namespace, Custom: t.Type == "custom"})
		case t.Type == "local_shell" || t.Type == "tool_search":
			out = append(out, Tool{Name: t.Type})
		}
	}
	return out
}
