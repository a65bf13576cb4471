package http_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"coppice"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/flow"
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
	source, err := os.ReadFile("../../web/src/app.tsx")
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{"/", "/groups/7", "/tasks/app-1", "/tasks/app-1/review", "/search?q=x"}
	for _, found := range regexp.MustCompile(`(?m)^  "(/[a-z]+)": lazy`).FindAllStringSubmatch(string(source), -1) {
		addresses = append(addresses, found[1])
	}
	if len(addresses) < 15 {
		t.Fatalf("the dashboard's routes were not found: %v", addresses)
	}
	for _, p := range addresses {
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
		refuses(t, b, http.StatusNotFound, "GET", p, "")
	}
	refuses(t, b, http.StatusMethodNotAllowed, "POST", "/landing", "{}")
}

func TestWithoutADashboardThereIsAPageThatSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []string{"/", "/usage"} {
		if resp, text := call(t, b, "GET", p, ""); resp.StatusCode != http.StatusOK || !strings.Contains(text, "make web") {
			t.Errorf("%s: %d %s", p, resp.StatusCode, text)
		}
	}
	refuses(t, b, http.StatusNotFound, "GET", "/assets/app-abc.js", "")
}

func TestDashboardNeedsASignedInBrowser(t *testing.T) {
	t.Parallel()
	b := setup(t, withWeb)
	none, page := header("Authorization", ""), header("Accept", "text/html,*/*")
	for _, p := range []string{"/", "/inbox", "/groups", "/groups/7", "/tasks/app-1", "/assets/app-abc.js"} {
		refuses(t, b, http.StatusUnauthorized, "GET", p, "", none)
		resp, text := call(t, b, "GET", p, "", none, page)
		if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "coppice login") || strings.Contains(text, "app-abc") {
			t.Errorf("%s: %d %s", p, resp.StatusCode, text)
		}
		if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("%s: policy %q", p, csp)
		}
	}
	for _, p := range []string{"/api/v1/tasks", "/api/openapi.json"} {
		refuses(t, b, http.StatusUnauthorized, "GET", p, "", none, page)
	}
	refuses(t, b, http.StatusForbidden, "GET", "/", "", none, page, header("Host", "evil.com"))
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

// TestDashboardKnowsTheAPI checks that the dashboard's client is generated from
// the description that is served, and its actions from the table of verbs.
func TestDashboardKnowsTheAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, spec := call(t, b, "GET", "/api/openapi.json", "")
	for name, want := range map[string]string{"schema.ts": typescript(t, spec), "actions.ts": actions(), "tables.ts": tables(t)} {
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

const generated = "// Code generated from the %s by `make generate`. DO NOT EDIT.\n\n"

// typescript generates the types of the API from its description.
func typescript(t *testing.T, spec string) string {
	t.Helper()
	program := filepath.Join("..", "..", "web", "node_modules", "openapi-typescript", "bin", "cli.js")
	if _, err := os.Stat(program); err != nil {
		if *update {
			t.Fatalf("%s is missing; run: make web", program)
		}
		t.Skipf("%s is missing; run: make web", program)
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", program, file, "--root-types", "--root-types-no-schema-prefix", "--default-non-nullable", "false")
	cmd.Stderr = &bytes.Buffer{}
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("openapi-typescript: %v\n%s", err, cmd.Stderr)
	}
	return fmt.Sprintf(generated, "API's description") + string(text)
}

// actions writes what the dashboard needs of the table of actions. The paths
// are checked by the types of the API.
func actions() string {
	var b strings.Builder
	fmt.Fprintf(&b, generated, "table of verbs")
	b.WriteString("export const actions = [\n")
	for _, i := range verb.Actions() {
		row := map[string]any{"id": i.Verb, "path": "/api/v1/tasks/{key}/" + string(i.Verb), "name": i.Button.Name, "about": i.Button.About, "done": i.Button.Done}
		if i.Verb == coppice.VerbUndo {
			row["path"] = "/api/v1/undo"
		}
		if i.Button.Path != "" {
			row["path"] = "/api/v1/tasks/{key}/" + i.Button.Path
		}
		for name, value := range map[string]any{
			"text": i.Text, "prompt": i.Button.Prompt, "bare": i.Button.Bare, "staff": i.Staff, "images": i.Images, "head": i.Head, "danger": i.Button.Danger, "more": i.Button.More, "required": i.Button.Required, "method": i.Button.Method, "many": i.Command.Many, "undo": i.Button.Undo,
		} {
			if !reflect.ValueOf(value).IsZero() {
				row[name] = value
			}
		}
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(row))
	}
	b.WriteString("] as const;\n")
	return b.String()
}

// tables writes the words and patterns that the dashboard shares with the server.
func tables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, generated, "tables of the domain")
	b.WriteString("// classes describes the classes of failures in words.\nexport const classes: Record<string, string> = {\n")
	for _, c := range coppice.Classes {
		fmt.Fprintf(&b, "  %s: %s,\n", c, coppice.Raw(c.Words()))
	}
	b.WriteString("};\n\n// errorPatterns match a line of a log at which an error starts.\nexport const errorPatterns = [\n")
	for _, p := range coppice.ErrorPatterns() {
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(p))
	}
	fmt.Fprintf(&b, "];\n\n// workspacePrefix begins the name of every directory of a workspace.\nexport const workspacePrefix = %s;\n", coppice.Raw(coppice.WorkspacePrefix))
	fmt.Fprintf(&b, "\n// priorities are the least and the most urgent priority of a task.\nexport const priorities = { least: %d, most: %d };\n", coppice.MinPriority, coppice.MaxPriority)
	fmt.Fprintf(&b, "\n// mostTurns is the highest limit of the turns of a session, and mostTitle the longest title.\nexport const mostTurns = %d;\nexport const mostTitle = %d;\n", coppice.MaxTurns, coppice.MaxTitle)
	fmt.Fprintf(&b, "\n// images are the limits of the images that people attach: bytes of one, how many a message has, and their types.\nexport const images = { size: %d, most: %d, types: %s };\n", coppice.MaxImage, coppice.MaxImages, coppice.Raw(coppice.ImageTypes))
	b.WriteString("\n// completions are the lists of checks that a task can require of its sessions.\nexport const completions = [\n")
	for _, c := range coppice.CompletionChoices() {
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(c))
	}
	b.WriteString("] as const;\n\n// retries are what can follow a failed session.\nexport const retries = [\n")
	for _, policy := range coppice.RetryPolicies {
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(map[string]string{"policy": policy, "words": coppice.RetryWords[policy]}))
	}
	b.WriteString("] as const;\n")
	fmt.Fprintf(&b, "\n// firstScreen is the size of a session's screen without viewers.\nexport const firstScreen = { cols: %d, rows: %d };\n", coppice.FirstScreen.Columns, coppice.FirstScreen.Rows)
	writeList(&b, "\n// statuses lists the statuses in the order in which people want to see them.\nexport const statuses", coppice.Statuses)
	ended := []coppice.Status{coppice.Status(coppice.OutcomeDone), coppice.Status(coppice.OutcomeFailed), coppice.Status(coppice.OutcomeCancelled)}
	writeList(&b, "\n// endedStatuses are those of tasks that have ended.\nexport const endedStatuses", ended)
	b.WriteString("\n// flowDefaults has what a kind of flow uses for a number that is absent.\nexport const flowDefaults = {\n")
	for _, kind := range []coppice.FlowKind{coppice.FlowGoal, coppice.FlowCycle, coppice.FlowDebate} {
		fmt.Fprintf(&b, "  %s: %s,\n", kind, coppice.Raw(flowDefaults(t, kind)))
	}
	b.WriteString("};\n\n// roles are the roles of sessions. Each has a prompt.\nexport const roles = [\n")
	for _, r := range coppice.Roles {
		fmt.Fprintf(&b, "  %s,\n", coppice.Raw(r.Role))
	}
	b.WriteString("];\n\n// appRoles are the roles for whose sessions the project's app is served.\nexport const appRoles = [\n")
	for _, r := range coppice.Roles {
		if r.App {
			fmt.Fprintf(&b, "  %s,\n", coppice.Raw(r.Role))
		}
	}
	b.WriteString("];\n\n// toolNames has words for names of tools that are only types of a protocol.\nexport const toolNames: Record<string, string> = {\n")
	for _, name := range slices.Sorted(maps.Keys(coppice.ToolNames)) {
		fmt.Fprintf(&b, "  %s: %s,\n", name, coppice.Raw(coppice.ToolNames[name]))
	}
	b.WriteString("};\n")
	return b.String()
}

// writeList writes a list of words.
func writeList[T ~string](b *strings.Builder, name string, words []T) {
	b.WriteString(name + " = [\n")
	for _, w := range words {
		fmt.Fprintf(b, "  %s,\n", coppice.Raw(w))
	}
	b.WriteString("];\n")
}

// flowDefaults returns the numbers that a kind of flow fills in.
func flowDefaults(t *testing.T, kind coppice.FlowKind) map[string]float64 {
	t.Helper()
	k, err := flow.Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := k.Check(nil, []flow.Agent{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(spec, &fields); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, value := range fields {
		if n, ok := value.(float64); ok {
			out[name] = n
		}
	}
	return out
}

func TestStaleLinkShowsAPage(t *testing.T) {
	t.Parallel()
	b := setup(t, withWeb)
	c := signIn(t, b)
	none, page := header("Authorization", ""), header("Accept", "text/html,*/*")
	resp, text := call(t, b, "GET", "/login?code=old", "", none, page)
	if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "<h1>This sign-in link was used before or has expired</h1>") || !strings.Contains(text, "coppice login --open") {
		t.Errorf("a stale link: %d %s", resp.StatusCode, text)
	}
	resp, text = call(t, b, "GET", "/", "", none, page)
	if resp.StatusCode != http.StatusUnauthorized || strings.Contains(text, "unauthorized") || strings.Contains(text, "token") {
		t.Errorf("the sign-in page: %d %s", resp.StatusCode, text)
	}
	cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) }
	if resp, text = call(t, b, "GET", "/login?code=old", "", none, page, cookie); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" {
		t.Errorf("a stale link in a browser that is signed in: %d %s", resp.StatusCode, text)
	}
	refuses(t, b, http.StatusUnauthorized, "GET", "/login?code=old", "", none)
}
