package http_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"coppice"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/verb"
)

var update = flag.Bool("update", false, "rewrite the types that the dashboard reads")

// built is a dashboard as a build leaves it.
var built = fstest.MapFS{
	"index.html":         {Data: []byte(`<!doctype html><script type="module" src="/assets/app-abc.js"></script>`)},
	"favicon.svg":        {Data: []byte(`<svg/>`)},
	"assets/app-abc.js":  {Data: []byte(`let x`)},
	"assets/app-abc.css": {Data: []byte(`p{}`)},
	"assets/app.bin":     {Data: []byte(`?`)},
}

func withWeb(c *apihttp.Config) { c.Web = built }

func TestDashboardIsServed(t *testing.T) {
	t.Parallel()
	b := setup(t, withWeb)
	for _, p := range []string{"/", "/tasks/app-1", "/landing", "/agents", "/usage", "/graph", "/timeline", "/search?q=x", "/settings", "/health"} {
		resp, text := call(t, b, "GET", p, "")
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, "/assets/app-abc.js") {
			t.Errorf("%s: %d %s", p, resp.StatusCode, text)
		}
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy %q lacks %s", p, csp, want)
			}
		}
		if cc := resp.Header.Get("Cache-Control"); cc != "no-store" {
			t.Errorf("%s: cache %q", p, cc)
		}
	}
	for p, kind := range map[string]string{"/assets/app-abc.js": "text/javascript; charset=utf-8", "/assets/app-abc.css": "text/css; charset=utf-8"} {
		resp, _ := call(t, b, "GET", p, "")
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != kind || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", p, resp.StatusCode, resp.Header)
		}
	}
	if resp, _ := call(t, b, "GET", "/favicon.svg", ""); resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the icon: %d %v", resp.StatusCode, resp.Header)
	}
	for _, p := range []string{"/assets/gone.js", "/assets/app.bin", "/assets/", "/assets/%2e%2e/index.html", "/tasks", "/nothing", "/api/v1/nothing"} {
		resp, text := call(t, b, "GET", p, "")
		refused(t, resp, text, http.StatusNotFound)
	}
	resp, text := call(t, b, "POST", "/landing", "{}")
	refused(t, resp, text, http.StatusMethodNotAllowed)
}

func TestWithoutADashboardThereIsAPageThatSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []string{"/", "/usage"} {
		if resp, text := call(t, b, "GET", p, ""); resp.StatusCode != http.StatusOK || !strings.Contains(text, "make web") {
			t.Errorf("%s: %d %s", p, resp.StatusCode, text)
		}
	}
	resp, text := call(t, b, "GET", "/assets/app-abc.js", "")
	refused(t, resp, text, http.StatusNotFound)
}

func TestDashboardNeedsASignedInBrowser(t *testing.T) {
	t.Parallel()
	b := setup(t, withWeb)
	none, page := header("Authorization", ""), header("Accept", "text/html,*/*")
	for _, p := range []string{"/", "/tasks/app-1", "/assets/app-abc.js"} {
		resp, text := call(t, b, "GET", p, "", none)
		refused(t, resp, text, http.StatusUnauthorized)
		resp, text = call(t, b, "GET", p, "", none, page)
		if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "coppice login") || strings.Contains(text, "app-abc") {
			t.Errorf("%s: %d %s", p, resp.StatusCode, text)
		}
		if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("%s: policy %q", p, csp)
		}
	}
	for _, p := range []string{"/api/v1/tasks", "/api/openapi.json"} {
		resp, text := call(t, b, "GET", p, "", none, page)
		refused(t, resp, text, http.StatusUnauthorized)
	}
	resp, text := call(t, b, "GET", "/", "", none, page, header("Host", "evil.com"))
	refused(t, resp, text, http.StatusForbidden)
}

func TestARestartDoesNotSignBrowsersOut(t *testing.T) {
	t.Parallel()
	b := setup(t, withWeb)
	c := signIn(t, b)
	listen := strings.TrimPrefix(b.Server.URL(), "http://")
	again := func(token string) int {
		b.Server.Stop()
		b.Config.Listen, b.Config.Token = listen, token
		b.Boot()
		cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) }
		resp, _ := call(t, b, "GET", "/api/v1/version", "", header("Authorization", ""), cookie)
		return resp.StatusCode
	}
	if got := again(apitest.Token); got != http.StatusOK {
		t.Errorf("after a restart: %d", got)
	}
	good := c.Value
	for name, bad := range map[string]string{
		"empty": "", "a dot": ".", "cut": good[:len(good)-1], "no seal": good[:strings.LastIndexByte(good, '.')],
		"another seal": good[:strings.LastIndexByte(good, '.')] + "." + strings.Repeat("A", 43),
		"a later end":  strings.Replace(good, ".", ".9", 1),
	} {
		resp, _ := call(t, b, "GET", "/api/v1/version", "", header("Authorization", ""), func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: bad}) })
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	if got := again(strings.Repeat("another token ", 4)); got != http.StatusUnauthorized {
		t.Errorf("after the token changed: %d", got)
	}
	if got := again(apitest.Token); got != http.StatusOK {
		t.Errorf("with the old token again: %d", got)
	}
	b.Clock.Move(12*time.Hour + time.Second)
	if got := again(apitest.Token); got != http.StatusUnauthorized {
		t.Errorf("after twelve hours: %d", got)
	}
}

// TestDashboardKnowsTheAPI compares the types that the dashboard is written
// against with the description that is served.
func TestDashboardKnowsTheAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, text := call(t, b, "GET", "/api/openapi.json", "")
	var spec struct {
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	b.Must(json.Unmarshal([]byte(text), &spec))
	for name, want := range map[string]string{"schema.ts": typescript(spec.Components.Schemas), "verbs.ts": verbs()} {
		file := filepath.Join("..", "..", "web", "src", "api", name)
		if *update {
			b.Must(os.WriteFile(file, []byte(want), 0o644))
		}
		got, err := os.ReadFile(file)
		b.Must(err)
		if string(got) != want {
			t.Errorf("web/src/api/%s is not what the server says; run: make generate", name)
		}
	}
}

// verbs writes what the dashboard needs of the table of verbs.
func verbs() string {
	var b strings.Builder
	b.WriteString("// Code generated from the table of verbs by `make generate`. DO NOT EDIT.\n\n")
	b.WriteString("export interface Verb {\n  id: string;\n  name: string;\n  about: string;\n  done: string;\n  text?: string; // the name of its text in requests\n" +
		"  prompt?: string;\n  bare?: boolean;\n  staff?: boolean;\n  danger?: boolean;\n  more?: boolean;\n}\n\nexport const verbs: Verb[] = [\n")
	for _, i := range verb.Table {
		row := map[string]any{"id": i.Verb, "name": i.Button.Name, "about": i.Button.About, "done": i.Button.Done}
		for name, value := range map[string]any{
			"text": i.Text, "prompt": i.Button.Prompt, "bare": i.Button.Bare, "staff": i.Staff, "danger": i.Button.Danger, "more": i.Button.More,
		} {
			if !reflect.ValueOf(value).IsZero() {
				row[name] = value
			}
		}
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(row))
	}
	b.WriteString("];\n")
	return b.String()
}

// schema is the part of JSON Schema that the description uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Enum       []any              `json:"enum"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional json.RawMessage    `json:"additionalProperties"`
	Doc        string             `json:"description"`
}

// typescript writes the schemas as interfaces, by name.
func typescript(all map[string]*schema) string {
	var b strings.Builder
	b.WriteString("// Code generated from the API's description by `make generate`. DO NOT EDIT.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "\nexport interface %s {\n", name)
		for _, field := range slices.SortedFunc(maps.Keys(all[name].Properties), cmp.Compare) {
			p, optional := all[name].Properties[field], "?"
			if slices.Contains(all[name].Required, field) {
				optional = ""
			}
			if p.Doc != "" {
				fmt.Fprintf(&b, "  /** %s */\n", p.Doc)
			}
			fmt.Fprintf(&b, "  %q%s: %s;\n", field, optional, p.typescript())
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func (s *schema) typescript() string {
	if s.Ref != "" {
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprintf("%q", e))
		}
		return strings.Join(words, " | ")
	}
	kinds, ok := s.Type.([]any)
	if !ok {
		kinds = []any{s.Type}
	}
	var parts []string
	for _, k := range kinds {
		parts = append(parts, s.plain(k))
	}
	return strings.Join(parts, " | ")
}

func (s *schema) plain(kind any) string {
	switch kind {
	case "string", "boolean", "null":
		return kind.(string)
	case "integer", "number":
		return "number"
	case "array":
		return "(" + s.Items.typescript() + ")[]"
	case "object":
		var value schema
		if json.Unmarshal(s.Additional, &value) == nil && (value.Type != nil || value.Ref != "") {
			return "Record<string, " + value.typescript() + ">"
		}
	}
	return "unknown"
}
