package forge_test

import (
	"net/url"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	own := func(kind, url, repo string) coppice.ForgePolicy {
		return coppice.ForgePolicy{Kind: kind, URL: url, Repo: repo}
	}
	github := forge.Remote{Kind: "github", API: "https://api.github.com/", Owner: "o", Name: "r"}
	for _, c := range []struct {
		remote string
		policy coppice.ForgePolicy
		want   forge.Remote
		fault  string
	}{
		{remote: "https://github.com/o/r", want: github},
		{remote: "https://github.com/o/r.git", want: github},
		{remote: "https://GitHub.com/o/r/", want: github},
		{remote: "https://user:secret@github.com/o/r.git", want: github},
		{remote: "https://www.github.com/o/r.git", want: github},
		{remote: "git@github.com:o/r.git", want: github},
		{remote: "github.com:o/r", want: github},
		{remote: "git@github.com:/o/r.git", want: github},
		{remote: "ssh://git@github.com/o/r.git", want: github},
		{remote: "ssh://git@ssh.github.com:443/o/r.git", want: github},
		{remote: "git@[github.com:22]:o/r.git", want: github},
		{remote: "git://github.com/o/r.git", want: github},
		{remote: "git+ssh://git@github.com/o/r", want: github},
		{remote: "  https://github.com/o/r.git\n", want: github},
		{remote: "https://github.com/o/r.with.dots.git", want: forge.Remote{Kind: "github", API: "https://api.github.com/", Owner: "o", Name: "r.with.dots"}},
		{remote: "https://github.example.org/o/r", want: forge.Remote{Kind: "github", API: "https://github.example.org/api/v3/", Owner: "o", Name: "r"}},
		{remote: "git@code.example.org:o/r", policy: own("github", "", ""), want: forge.Remote{Kind: "github", API: "https://code.example.org/api/v3/", Owner: "o", Name: "r"}},
		{remote: "git@code.example.org:o/r", policy: own("github", "http://127.0.0.1:4001", ""), want: forge.Remote{Kind: "github", API: "http://127.0.0.1:4001/", Owner: "o", Name: "r"}},
		{remote: "git@gitlab.com:a/b/c/r.git", want: forge.Remote{Kind: "gitlab", API: "https://gitlab.com/api/v4/", Owner: "a/b/c", Name: "r"}},
		{remote: "https://gitlab.example.org:8443/a/r.git", want: forge.Remote{Kind: "gitlab", API: "https://gitlab.example.org:8443/api/v4/", Owner: "a", Name: "r"}},
		{remote: "https://git.example.org/lab/a/r", policy: own("gitlab", "https://git.example.org/lab", ""), want: forge.Remote{Kind: "gitlab", API: "https://git.example.org/lab/api/v4/", Owner: "a", Name: "r"}},
		{remote: "https://codeberg.org/o/r.git", want: forge.Remote{Kind: "gitea", API: "https://codeberg.org/api/v1/", Owner: "o", Name: "r"}},
		{remote: "ssh://git@forgejo.example.org:2222/o/r.git", want: forge.Remote{Kind: "gitea", API: "https://forgejo.example.org/api/v1/", Owner: "o", Name: "r"}},
		{remote: "http://127.0.0.1:3000/o/r.git", policy: own("gitea", "", ""), want: forge.Remote{Kind: "gitea", API: "http://127.0.0.1:3000/api/v1/", Owner: "o", Name: "r"}},
		{remote: "https://example.org/git/o/r", policy: own("gitea", "", ""), want: forge.Remote{Kind: "gitea", API: "https://example.org/git/api/v1/", Owner: "o", Name: "r"}},
		{remote: "git@example.org:o/r", policy: own("auto", "https://gitea.example.org/api/v1/", ""), want: forge.Remote{Kind: "gitea", API: "https://gitea.example.org/api/v1/", Owner: "o", Name: "r"}},
		{remote: "/srv/git/r.git", policy: own("gitea", "http://[::1]:3000", "o/r"), want: forge.Remote{Kind: "gitea", API: "http://[::1]:3000/api/v1/", Owner: "o", Name: "r"}},
		{remote: "https://github.com/o/r", policy: own("", "", "other/name"), want: forge.Remote{Kind: "github", API: "https://api.github.com/", Owner: "other", Name: "name"}},

		{remote: "https://git.example.org/o/r", fault: "forge.kind"},
		{remote: "/srv/git/r.git", fault: "forge.kind"},
		{remote: "file:///srv/git/r.git", fault: "forge.kind"},
		{remote: `C:\git\r`, fault: "forge.kind"},
		{remote: "", fault: "forge.kind"},
		{remote: "https://notgithub.com/o/r", fault: "forge.kind"},
		{remote: "/srv/git/r.git", policy: own("gitea", "", ""), fault: "forge.url"},
		{remote: "/srv/git/r.git", policy: own("gitea", "http://127.0.0.1", ""), fault: "forge.repo"},
		{remote: "https://github.com/o/r", policy: own("bitbucket", "", ""), fault: "forge.kind"},
		{remote: "https://github.com/o/r", policy: own("", "ftp://x", ""), fault: "forge.url"},
		{remote: "https://github.com/o/r", policy: own("", "https://me:pw@github.com/", ""), fault: "forge.url"},
		{remote: "https://github.com/o", fault: "forge.repo"},
		{remote: "https://github.com/a/o/r", fault: "forge.repo"},
		{remote: "https://github.com/o/..", fault: "forge.repo"},
		{remote: "https://github.com/o/r%3Fx", fault: "forge.repo"},
		{remote: "https://user:secret@github.com/o", fault: "forge.repo"},
	} {
		got, err := forge.Detect(c.remote, c.policy)
		if c.fault == "" {
			if err != nil || got != c.want {
				t.Errorf("Detect(%q, %+v) = %+v, %v, want %+v", c.remote, c.policy, got, err, c.want)
			}
			continue
		}
		e := coppice.Public(err)
		if err == nil || e.Code != coppice.EInvalid || e.Field != c.fault || e.Fix == "" || strings.Contains(e.Error(), "secret") {
			t.Errorf("Detect(%q, %+v) = %+v, %v, want an invalid %s with a fix", c.remote, c.policy, got, err, c.fault)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"https://github.com/o/r.git", "git@gitlab.com:a/b/r", "ssh://[::1]:22/x", "[a:1]:b", "C:/x", "://", "git@[gitea.x:1]:o/r"} {
		f.Add(s, "", "")
		f.Add(s, "gitea", "")
		f.Add(s, "gitea", "https://h/p/api/v1")
	}
	f.Fuzz(func(t *testing.T, remote, kind, api string) {
		r, err := forge.Detect(remote, coppice.ForgePolicy{Kind: kind, URL: api})
		if err != nil {
			if coppice.ErrorCode(err) != coppice.EInvalid {
				t.Fatalf("%q: %v", remote, err)
			}
			return
		}
		u, err := url.Parse(r.API)
		if err != nil || u.Host == "" || u.User != nil || !strings.HasSuffix(u.Path, "/") || u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q has the API %q: %v", remote, r.API, err)
		}
		for _, s := range append(strings.Split(r.Owner, "/"), r.Name) {
			if s == "" || strings.Trim(s, ".") == "" || strings.ContainsAny(s, "?#%@: \\") {
				t.Fatalf("%q has the repository %q / %q", remote, r.Owner, r.Name)
			}
		}
	})
}
