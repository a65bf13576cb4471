package forge

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
)

// otherHosts are further names of hosts, and those that serve only SSH.
var otherHosts = map[string]string{"www.github.com": "github.com", "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}

// labels are names of hosts that say the kind of forge, other than the kind's own.
var labels = map[string]string{"forgejo": "gitea"}

// apiPaths is where each kind of forge has its API, below its own address. The
// public GitHub has another host instead.
var apiPaths = map[string]string{"github": "api/v3/", "gitlab": "api/v4/", "gitea": "api/v1/"}

// hostName is a name or an IP address.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9:][a-z0-9_.:-]*$`) })

// segment is a part of a repository's name on any forge.
var segment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) })

// Detect returns the address of the repository on its forge, from the address of a
// git remote and from what the configuration says.
func Detect(remoteURL string, p coppice.ForgePolicy) (Remote, error) {
	return detect(remoteURL, p, "forge")
}

// publicAPIs are the addresses of the forges that everybody can use.
var publicAPIs = map[string]string{"github": "https://api.github.com/", "gitlab": "https://gitlab.com/"}

// DetectTracker returns the address of a source of issues: of the project's repository
// on its forge, of another repository, or of a team of Linear. ofForge is true if it is
// on the project's forge, whose token it uses.
func DetectTracker(remoteURL string, f coppice.ForgePolicy, p coppice.TrackerPolicy) (r Remote, ofForge bool, err error) {
	i := slices.IndexFunc(coppice.TrackerKinds, func(k coppice.TrackerKind) bool { return k.Name == p.Kind })
	own, _ := kindOf(parseRemote(remoteURL), f, "forge")
	switch {
	case p.Kind == "" || p.Kind == "auto" || i >= 0 && p.Kind == own:
		if p.URL == "" && p.Repo == "" {
			r, err = Detect(remoteURL, f)
			return r, true, err
		}
		f.URL, f.Repo = cmp.Or(p.URL, f.URL), cmp.Or(p.Repo, f.Repo)
		r, err = detect(remoteURL, f, "tracker")
		return r, p.URL == "", err
	case i < 0:
		return Remote{}, false, coppice.Errorf(coppice.EInvalid, "%s is not a valid value for tracker.kind", coppice.Quote(p.Kind)).
			WithField("tracker.kind").WithFix("set tracker.kind in coppice.yaml to github, gitlab, gitea or linear")
	case coppice.TrackerKinds[i].API != "":
		if p.Team == "" {
			return Remote{}, false, coppice.Errorf(coppice.EInvalid, "the tracker %s has no team", coppice.Quote(p.SourceName())).
				WithField("tracker.team").WithFix("set tracker.team in coppice.yaml to the key of the team, such as ENG")
		}
		return Remote{Kind: p.Kind, API: cmp.Or(p.URL, coppice.TrackerKinds[i].API), Name: p.Team}, false, nil
	}
	f = coppice.ForgePolicy{Kind: p.Kind, URL: cmp.Or(p.URL, publicAPIs[p.Kind]), Repo: p.Repo}
	for key, value := range map[string]string{"url": f.URL, "repo": f.Repo} {
		if value == "" {
			return Remote{}, false, coppice.Errorf(coppice.EInvalid, "the tracker %s is not on the forge of the project, and has no %s", coppice.Quote(p.SourceName()), key).
				WithField("tracker." + key).WithFix("set tracker.url in coppice.yaml to the address of its API, and tracker.repo to owner/name")
		}
	}
	r, err = detect("", f, "tracker")
	return r, false, err
}

// detect is Detect with the key of coppice.yaml to which the values belong.
func detect(remoteURL string, p coppice.ForgePolicy, key string) (Remote, error) {
	a := parseRemote(remoteURL)
	kind, err := kindOf(a, p, key)
	if err != nil {
		return Remote{}, err
	}
	r := Remote{Kind: kind}
	if r.API, err = apiOf(kind, &a, p.URL, key); err != nil {
		return Remote{}, err
	}
	repo := p.Repo
	if repo == "" {
		if repo = a.path; repo == "" {
			return Remote{}, coppice.Errorf(coppice.EInvalid, "the address of the remote, %s, does not name a repository on a forge", shown(a)).
				WithField(key+".repo").WithFix("set %s.repo in coppice.yaml to owner/name", key)
		}
	}
	parts := strings.Split(strings.Trim(repo, "/"), "/")
	valid := len(parts) == 2 || len(parts) > 2 && kind == "gitlab"
	for _, s := range parts {
		valid = valid && segment().MatchString(s)
	}
	if !valid {
		return Remote{}, coppice.Errorf(coppice.EInvalid, "%s is not the name of a repository", coppice.Quote(repo)).
			WithField(key+".repo").WithFix("set %s.repo in coppice.yaml to owner/name", key)
	}
	last := len(parts) - 1
	r.Owner, r.Name = strings.Join(parts[:last], "/"), parts[last]
	return r, nil
}

// address has the parts of a remote's address. The host is empty for a path on this
// machine.
type address struct {
	web    string // http or https; empty for any other protocol
	host   string // in lower case, without the port
	port   string // with its colon; empty unless web is set
	path   string // without slashes around it and without .git
	prefix string // of the forge on its host, with a slash at the end
}

// parseRemote reads all forms of addresses that git knows. It never keeps a user or
// password.
func parseRemote(s string) address {
	var a address
	s = strings.TrimSpace(s)
	if scheme, _, found := strings.Cut(s, "://"); found {
		u, err := url.Parse(s)
		if err != nil {
			return a
		}
		switch strings.ToLower(scheme) {
		case "http", "https":
			a.web = strings.ToLower(scheme)
			if u.Port() != "" {
				a.port = ":" + u.Port()
			}
		case "ssh", "git", "git+ssh", "ssh+git", "git+https":
		default:
			return a // a file, or a helper program
		}
		a.host, a.path = u.Hostname(), u.Path
	} else if host, path, found := strings.Cut(hidePort(s), ":"); found && !strings.ContainsAny(host, `/\`) && len(host) > 1 {
		// The short form of SSH. A name of one letter before the colon is a drive.
		_, a.host, _ = cutLast(host, "@")
		a.host, a.path = strings.Trim(a.host, "[]"), path
	}
	a.host = strings.ToLower(strings.TrimSuffix(a.host, "."))
	if own := otherHosts[a.host]; own != "" {
		a.host = own
	}
	a.path = strings.Trim(strings.TrimSuffix(strings.Trim(a.path, "/"), ".git"), "/")
	if !hostName().MatchString(a.host) {
		a.host, a.path = "", ""
	}
	return a
}

// hidePort returns the short form of an address whose host is in brackets, as
// [host:22]:path, without the port.
func hidePort(s string) string {
	before, rest, found := strings.Cut(s, "[")
	inside, after, closed := strings.Cut(rest, "]")
	if !found || !closed || strings.Contains(before, ":") || strings.Contains(before, "/") {
		return s
	}
	if host, _, one := strings.Cut(inside, ":"); one && strings.Count(inside, ":") == 1 {
		inside = host
	}
	if strings.Contains(inside, ":") {
		return "" // an address of IPv6 is not the host of a known forge
	}
	return before + inside + after
}

// cutLast is strings.Cut at the last separator. Without one, all is after it.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// kindOf returns the kind that the configuration or the host names.
func kindOf(a address, p coppice.ForgePolicy, key string) (string, error) {
	if p.Kind != "" && p.Kind != "auto" {
		for _, k := range coppice.ForgeKinds {
			if k.Name == p.Kind {
				return k.Name, nil
			}
		}
		return "", coppice.Errorf(coppice.EInvalid, "%s is not a valid value for %s.kind", coppice.Quote(p.Kind), key).
			WithField(key+".kind").WithFix("set %s.kind in coppice.yaml to github, gitlab or gitea", key)
	}
	hosts := []string{a.host}
	if u, err := url.Parse(p.URL); err == nil && p.URL != "" {
		hosts = []string{strings.ToLower(u.Hostname()), a.host}
	}
	for _, host := range hosts {
		for _, k := range coppice.ForgeKinds {
			if slices.Contains(k.Hosts, host) {
				return k.Name, nil
			}
		}
		for label := range strings.SplitSeq(host, ".") {
			if other := labels[label]; other != "" {
				label = other
			}
			if slices.ContainsFunc(coppice.ForgeKinds, func(k coppice.ForgeKind) bool { return k.Name == label }) {
				return label, nil
			}
		}
	}
	return "", coppice.Errorf(coppice.EInvalid, "the address of the remote, %s, does not say which kind of forge it is", shown(a)).
		WithField(key+".kind").WithFix("set %s.kind in coppice.yaml to github, gitlab or gitea, and %s.url if the API has another address", key, key)
}

// apiOf returns the address of the API. It removes the path of the forge on its host
// from the path of the repository.
func apiOf(kind string, a *address, configured, key string) (string, error) {
	if configured == "" {
		if a.host == "" {
			return "", coppice.Errorf(coppice.EInvalid, "the remote is not on a forge: its address is %s", shown(*a)).
				WithField(key+".url").WithFix("set %s.url in coppice.yaml to the address of the forge's API, and %s.repo to owner/name", key, key)
		}
		if kind == "github" && a.host == "github.com" {
			return "https://api.github.com/", nil
		}
		web := a.web
		if web == "" {
			web = "https"
		}
		a.splitPrefix(kind)
		return web + "://" + hostPort(a.host, a.port) + "/" + a.prefix + apiPaths[kind], nil
	}
	u, err := url.Parse(configured)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", coppice.Errorf(coppice.EInvalid, "the value of %s.url is not an address of an API", key).
			WithField(key + ".url").WithFix("write it as https://git.example.org/, without a user, a password or a query")
	}
	base := strings.Trim(u.Path, "/")
	api := strings.TrimSuffix(apiPaths[kind], "/")
	prefix := strings.Trim(strings.TrimSuffix(base, api), "/")
	if prefix != "" && a.web != "" {
		a.path = strings.TrimPrefix(a.path, prefix+"/")
	}
	// The API of GitHub can be anywhere, so its address is complete.
	if kind != "github" && !strings.HasSuffix(base, api) {
		base = strings.Trim(base+"/"+api, "/")
	}
	if base != "" {
		base += "/"
	}
	return strings.ToLower(u.Scheme) + "://" + u.Host + "/" + base, nil
}

// splitPrefix moves the directories before the owner and name to the prefix. A path
// of GitLab has any number of groups, so there it is not possible to know.
func (a *address) splitPrefix(kind string) {
	parts := strings.Split(a.path, "/")
	if kind != "gitea" || a.web == "" || len(parts) < 3 {
		return
	}
	n := len(parts) - 2
	a.prefix, a.path = strings.Join(parts[:n], "/")+"/", strings.Join(parts[n:], "/")
}

func hostPort(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + port
}

// shown returns the address for people. It has no user and no password.
func shown(a address) string {
	if a.host == "" {
		return "a path on this machine"
	}
	return coppice.Quote(a.host + "/" + a.path)
}
