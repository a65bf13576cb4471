package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

// maxDepth limits how deep a request's JSON can nest. The deepest accepted type
// has four levels.
const maxDepth = 16

// The HTTP framework makes its errors through package variables, and reads its
// casing rule from one. This package is its only user.
func init() {
	huma.NewError = refuse
	huma.ValidateStrictCasing = true
}

// refuse makes the Problem for a request that does not match its description.
func refuse(status int, msg string, errs ...error) huma.StatusError {
	p := &api.Problem{Status: status, Title: http.StatusText(status), Code: api.CodeOf(status), Detail: msg}
	if status >= http.StatusInternalServerError {
		p.Detail, p.Fix = "internal error", "see the server's log"
		return p
	}
	for _, err := range errs {
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			p.Detail, p.Field = d.Message, strings.TrimPrefix(d.Location, "body.")
			p.Fix = "see /api/openapi.json for what this address accepts"
			break
		}
	}
	if status == http.StatusRequestEntityTooLarge {
		p.Detail = "the request is too large"
	}
	return p
}

// fail writes an error as a Problem. It logs what must not be shown.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(r.Context(), err)
	w.Header().Set("Content-Type", api.ProblemType)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the reader might be gone
}

// problem converts an error. It logs internal errors.
func (s *Server) problem(ctx context.Context, err error) *api.Problem {
	var p *api.Problem
	if errors.As(err, &p) {
		return p
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = coppice.Errorf(coppice.EUnavailable, "the request was interrupted")
	}
	p = api.ProblemOf(err)
	if p.Code == coppice.EInternal {
		s.log.Error("a request failed", "err", err)
	}
	return p
}

// strictJSON decodes JSON for the HTTP framework. It refuses JSON that nests
// too deep, or has a key twice in one object, before it builds anything.
func strictJSON(data []byte, v any) error {
	depth, quoted, escaped := 0, false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return errors.New("the JSON nests too deep")
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if key, twice := duplicate(data); twice {
		return fmt.Errorf("the key %s occurs twice", coppice.Quote(key))
	}
	return json.Unmarshal(data, v)
}

// duplicate returns the first key that an object has twice. The decoder reports
// broken JSON.
func duplicate(data []byte) (key string, twice bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil for a list
		value bool            // what follows is a value
	}
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			return "", false
		}
		in := len(open) - 1
		switch t {
		case json.Delim('}'), json.Delim(']'):
			open = open[:in]
			continue
		}
		if in >= 0 && open[in].keys != nil && !open[in].value {
			key, _ := t.(string)
			if open[in].keys[key] {
				return key, true
			}
			open[in].keys[key], open[in].value = true, true
			continue
		}
		if in >= 0 {
			open[in].value = false
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}
