package http

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"coppice"
	"coppice/api"
)

// pagePolicy is what the dashboard can do: run and show what this server
// serves, and connect to it. Only style attributes are inline: the terminal
// sets them for colours beyond the palette.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages are the addresses of the dashboard. They are listed one by one, so that
// any other address still gets a Problem.
var pages = []string{
	"/{$}", "/inbox", "/groups", "/groups/{id}", "/flows", "/flows/{key}", "/schedules", "/templates", "/tasks/{key}", "/tasks/{key}/review", "/landing", "/issues", "/notifications", "/reactions", "/locks", "/notes", "/features", "/agents", "/usage", "/graph", "/timeline", "/search", "/settings", "/health", "/help",
}

// kinds are the media types of the files of a build. The machine's own tables
// are not used, because they differ.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
}

// webRoutes serves the dashboard, or a page that says that it is missing.
func (s *Server) webRoutes() {
	for _, p := range pages {
		s.mux.HandleFunc("GET "+p, s.servePage)
	}
	s.mux.HandleFunc("GET /assets/{file...}", s.serveAsset)
	s.mux.HandleFunc("GET /favicon.svg", s.serveAsset)
}

// servePage serves the one page for all addresses of the dashboard. It is never
// cached, because it names the files of its build.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	text, err := s.webFile("index.html")
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.fail(w, r, err)
			return
		}
		text = page
	} else {
		w.Header().Set("Content-Security-Policy", pagePolicy)
	}
	w.Header().Set("Content-Type", kinds[".html"])
	_, _ = w.Write(text) // the reader might be gone
}

// serveAsset serves a file of the build. Files below assets are named after
// their content, so they never change.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	kind, known := kinds[path.Ext(name)]
	text, err := s.webFile(name)
	if err != nil || !known {
		s.fail(w, r, coppice.Errorf(coppice.ENotFound, "there is nothing at %s", coppice.Quote(r.URL.Path)).
			WithFix("reload the page: the server might have been upgraded"))
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.HasPrefix(name, "assets/") {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(text) // the reader might be gone
}

func (s *Server) webFile(name string) ([]byte, error) {
	if s.cfg.Web == nil {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(s.cfg.Web, name)
}

// refuseBrowser refuses a request. A person who opened a page gets a page that
// explains how to sign in. Others get a Problem.
func (s *Server) refuseBrowser(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(r.Context(), err)
	if !readsPages(r) || p.Status != http.StatusUnauthorized {
		s.fail(w, r, err)
		return
	}
	writeSignInPage(w, p, "Sign in to Coppice")
}

// readsPages reports whether a person opened the address in a browser.
func readsPages(r *http.Request) bool {
	return safe(r.Method) && strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/")
}

// writeSignInPage writes the page for browsers that are not signed in. The title
// says why the browser sees it.
func writeSignInPage(w http.ResponseWriter, p *api.Problem, title string) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+signInStyleHash+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", kinds[".html"])
	w.WriteHeader(p.Status)
	_, _ = fmt.Fprintf(w, signInPage, html.EscapeString(title)) // the reader might be gone
}

const signInStyle = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:14vh auto;padding:0 1.5rem}` +
	`code{font:14px ui-monospace,monospace;padding:.15rem .4rem;border:1px solid #8886;border-radius:4px}`

var signInStyleHash = func() string {
	sum := sha256.Sum256([]byte(signInStyle))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// signInPage takes its title.
const signInPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Coppice</title>
<style>` + signInStyle + `</style>
<h1>%s</h1>
<p>Run <code>coppice login --open</code> in a terminal. It opens the dashboard in your browser.</p>
<p>If it cannot open a browser, for example over SSH, it prints a link to open. Each link works one time, within two minutes.</p>
</html>
`
