package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAIError is shared by both OpenAI formats.
func openAIError(w http.ResponseWriter, status int, kind, msg string) {
	group, code := kind, any(kind)
	if kind == "" {
		own := map[int][2]string{
			400: {"invalid_request_error"}, 401: {"invalid_request_error", "invalid_api_key"},
			403: {"request_forbidden", "unsupported_country_region_territory"},
			429: {"requests", "rate_limit_exceeded"}, 503: {"service_unavailable_error"},
		}[status]
		group, kind = own[0], own[1]
		if group == "" {
			group = "server_error"
		}
		if code = any(kind); kind == "" {
			code, kind = nil, group
		}
	}
	if msg == "" {
		msg = "scripted " + strings.ReplaceAll(kind, "_", " ")
	}
	writeJSON(w, status, obj{"error": obj{"message": msg, "type": group, "code": code, "param": nil}})
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
