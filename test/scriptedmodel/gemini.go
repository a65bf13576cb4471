package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// geminiAPI: POST /v1beta/models/{model}:generateContent and :streamGenerateContent.
type geminiAPI struct{}

func (geminiAPI) name() string { return "gemini" }

type geminiPart struct {
	Text             string `json:"text"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (geminiAPI) decode(r *http.Request, body []byte) (*Request, error) {
	var in struct {
		SystemInstruction struct {
			Parts []geminiPart `json:"parts"`
		} `json:"systemInstruction"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			FunctionDeclarations []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{API: "gemini", Bytes: len(body), Stream: strings.Contains(r.URL.Path, ":streamGenerateContent")}
	_, model, _ := strings.Cut(r.URL.Path, "/models/")
	req.Model, _, _ = strings.Cut(model, ":")
	for _, p := range in.SystemInstruction.Parts {
		req.System += p.Text + "\n"
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			req.Tools = append(req.Tools, Tool{Name: f.Name})
		}
	}
	all := []string{req.System}
	for _, c := range in.Contents {
		var text []string
		results, seen := 0, req.NextStep
		for _, p := range c.Parts {
			if p.Text != "" {
				text = append(text, p.Text)
			}
			if p.FunctionResponse != nil {
				results++
				bumpStep(&req.NextStep, p.FunctionResponse.ID)
				req.LastResult = string(p.FunctionResponse.Response)
			}
		}
		all = append(all, text...)
		if results > 0 {
			if req.NextStep == seen { // the client did not keep our ids: count rounds
				req.NextStep++
			}
			continue
		}
		if t := stripReminders(strings.Join(text, "\n")); c.Role == "user" && t != "" {
			req.User, req.NextStep, req.LastResult = t, 0, ""
		}
	}
	req.Cwd = findCwd(all...)
	return req, nil
}

func geminiChunk(req *Request, a Answer, parts arr, last bool) obj {
	cand := obj{"content": obj{"role": "model", "parts": parts}, "index": 0}
	out := obj{"candidates": arr{cand}, "modelVersion": req.Model, "responseId": a.ID}
	if last {
		cand["finishReason"] = "STOP"
		in := a.Usage.Input + a.Usage.CacheRead
		out["usageMetadata"] = obj{"promptTokenCount": in, "candidatesTokenCount": a.Usage.Output,
			"cachedContentTokenCount": a.Usage.CacheRead, "totalTokenCount": in + a.Usage.Output}
	}
	return out
}

func geminiParts(a Answer) arr {
	parts := arr{}
	for _, c := range a.Calls {
		parts = append(parts, obj{"functionCall": obj{"id": c.ID, "name": c.Name, "args": c.Input}})
	}
	return parts
}

// stream sends the text in pieces and all calls in one chunk. Gemini CLI takes an empty
// text part for an invalid response, so none is ever sent next to a call.
func (geminiAPI) stream(st *stream, req *Request, a Answer) {
	var out []arr
	if a.Text != "" || len(a.Calls) == 0 {
		for _, c := range chunks(a.Text) {
			out = append(out, arr{obj{"text": c}})
		}
	}
	if len(a.Calls) > 0 {
		out = append(out, geminiParts(a))
	}
	for i, parts := range out {
		st.send("", geminiChunk(req, a, parts, i == len(out)-1))
	}
}

func (geminiAPI) writeWhole(w http.ResponseWriter, req *Request, a Answer) {
	parts := geminiParts(a)
	if a.Text != "" || len(parts) == 0 {
		parts = append(arr{obj{"text": a.Text}}, parts...)
	}
	writeJSON(w, 200, geminiChunk(req, a, parts, true))
}

func (geminiAPI) writeError(w http.ResponseWriter, status int, kind, msg string) {
	if kind == "" {
		kind = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
			429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}[status]
	}
	if msg == "" {
		msg = "scripted " + kind
	}
	writeJSON(w, status, obj{"error": obj{"code": status, "message": msg, "status": kind}})
}
