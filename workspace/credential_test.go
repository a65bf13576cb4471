package workspace

import (
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

const password = "ghs_S3CRETinAnAddress"

// gitServer serves the repositories in a directory over HTTP, to clients with the
// password. It returns the address with and without it.
func gitServer(t *testing.T, dir string) (with, without string) {
	t.Helper()
	h := &cgi.Handler{Path: strings.TrimSpace(run(t, dir, "git", "--exec-path")) + "/git-http-backend", Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "://", "://bot:"+password+"@", 1), s.URL
}

// A password or token in the address of a remote is in no file of Coppice. Pushes,
// fetches and submodules use it, as the person's configuration has it at that moment.
func TestCredentialsInAddresses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"not confirmed", "confirmed", "confirmed by an earlier version"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			dir := filepath.Dir(b.root)
			with, without := gitServer(t, dir)
			remote := filepath.Join(dir, "remote.git")
			part := filepath.Join(dir, "part")
			newRepo(t, part)
			run(t, dir, "git", "clone", "-q", "--bare", part, "part.git")
			run(t, b.root, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(dir, "part.git"), "part")
			run(t, b.root, "git", "config", "--file", ".gitmodules", "submodule.part.url", "../part.git")
			run(t, b.root, "git", "config", "--unset", "submodule.part.url")
			commit(t, b.root, "a submodule")
			run(t, dir, "git", "clone", "-q", "--bare", b.root, remote)
			run(t, remote, "git", "config", "http.receivepack", "true")
			run(t, b.root, "git", "remote", "add", "origin", with+"/remote.git")
			run(t, b.root, "git", "config", "http."+without+"/other/.extraheader", "Authorization: basic "+password)
			run(t, b.root, "git", "config", "url."+with+"/.pushInsteadOf", "short:")
			switch settings := must[[]coppice.GitSetting](t)(b.Settings(b.ctx, b.root)); name {
			case "confirmed":
				must[string](t)("", b.Confirm(b.ctx, b.root, settings))
			case "confirmed by an earlier version":
				for i, s := range settings {
					if s.Key == "remote.origin.url" {
						settings[i].Value = with + "/remote.git"
					}
				}
				must[string](t)("", b.Confirm(b.ctx, b.root, settings))
			}
			ws := b.prepare("app-1").Path
			if _, err := os.Stat(filepath.Join(ws, "part", ".git")); err != nil {
				t.Errorf("the submodule is missing: %v", err)
			}
			write(t, ws, "x.txt", "x")
			commit(t, ws, "x")
			pushed := must[coppice.PullPushResult](t)(b.PullPush(b.ctx, coppice.PullPushSpec{ForgeSpec: coppice.ForgeSpec{Repo: b.root}, Branch: "coppice/app-1", New: b.saved(ws)}))
			if !pushed.Pushed {
				t.Errorf("%+v", pushed)
			}
			if address := must[string](t)(b.Remote(b.ctx, b.root, "origin")); address != without+"/remote.git" {
				t.Errorf("the address is %s", address)
			}
			// The person renews the token: nothing waits for a confirmation.
			run(t, b.root, "git", "remote", "set-url", "origin", strings.Replace(with, "bot", "robot", 1)+"/remote.git")
			if name == "confirmed" {
				r := must[repo.Repo](t)(b.Use(b.ctx, b.root))
				need, err := b.Unconfirmed(b.ctx, r)
				if err != nil || need != nil {
					t.Errorf("%+v, %v", need, err)
				}
			}
			findPassword(t, filepath.Join(dir, "state"))
			findPassword(t, ws)
		})
	}
}

// findPassword reports the files below a directory that contain the password.
func findPassword(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), password) {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
