package answerlink

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"time"

	"coppice"
)

//go:embed page.html
var pageText string

// page is parsed when it is needed: this package is in every process of Coppice.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// style is the only style of a page. The policy of the page allows it by its hash.
const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0}main{max-width:40rem;margin:0 auto;padding:1.5rem 1rem}h1{font-size:1.25rem}` +
	`pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;border:1px solid #8888;border-radius:.5rem;font:inherit}` +
	`form{display:grid;gap:.75rem}button{font:inherit;padding:.75rem;border:1px solid #8888;border-radius:.5rem;text-align:left;overflow-wrap:anywhere}.send{text-align:center;font-weight:600}` +
	`textarea{font:inherit;padding:.5rem;width:100%;box-sizing:border-box}small,.task,.until{opacity:.8}small{display:block}.problem{color:#b91c1c;font-weight:600}`

// policy allows the style and the form, and nothing else: no script, no picture, no frame.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
})

// content is what a page shows.
type content struct {
	Title, Note, Problem string
	Form                 *form
	Style                template.CSS
}

type form struct {
	Task, Text, Until string
	Options           []option
	Several, Free     bool
	Most              int
}

type option struct {
	Number      int
	Name, About string
}

// formOf returns the form for a question.
func formOf(t coppice.Task, q coppice.Question, until time.Time, mask func(string) string) *form {
	show := func(s string) string { return coppice.Printable(mask(s)) }
	f := &form{
		Task: show(t.Key + ": " + t.Title), Text: show(q.Asks()), Until: until.UTC().Format("2006-01-02 15:04 MST"),
		Several: q.Several, Free: q.Kind != coppice.QuestionPermission || len(q.Options) == 0, Most: maxText,
	}
	for i, name := range q.Options {
		o := option{Number: i + 1, Name: show(name)}
		if i < len(q.Descriptions) {
			o.About = show(q.Descriptions[i])
		}
		f.Options = append(f.Options, o)
	}
	return f
}

// secure sets the headers of every page.
func secure(h http.Header) {
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy(), "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow",
	} {
		h.Set(name, value)
	}
}

// write answers with a page.
func write(w http.ResponseWriter, r *http.Request, status int, c content) {
	c.Style = template.CSS(style)
	var text bytes.Buffer
	if err := page().Execute(&text, c); err != nil {
		status = http.StatusInternalServerError
		text.Reset()
	}
	secure(w.Header())
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes()) // the browser might have gone
	}
}
