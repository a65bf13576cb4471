package worker

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
)

// trackerBundle has clients whose trackers are in memory.
type trackerBundle struct {
	*TrackerClients
	address string
	secrets map[string]string
	opened  []string // remotes and tokens
	memory  forgetest.Memory
}

func trackers(t *testing.T) *trackerBundle {
	b := &trackerBundle{address: "https://github.com/o/r", secrets: map[string]string{"GITHUB_TOKEN": "t0", "MINE": "t1", "GITLAB_TOKEN": "t2"}}
	open := func(r forge.Remote, o forge.Options) (forge.Tracker, error) {
		token, err := o.Token(t.Context())
		b.opened = append(b.opened, strings.Join([]string{r.Kind, r.API, r.Owner, r.Name, token, o.Key}, " "))
		return &b.memory, err
	}
	b.TrackerClients = &TrackerClients{
		Kinds: map[string]forge.TrackerOpener{"github": open, "linear": open},
		Forges: &ForgeClients{
			Address: func(context.Context, string, string) (string, error) {
				if b.address == "" {
					return "", errNoRemote
				}
				return b.address, nil
			},
			Secret: func(_ context.Context, name string) (string, error) {
				if value, ok := b.secrets[name]; ok {
					return value, nil
				}
				return "", coppice.Failf(coppice.ClassAuth, "the secret "+name+" is missing", "store it: coppice secret set "+name)
			},
			Mask: func(s string) string { return strings.ReplaceAll(s, "hidden", "***") },
		},
	}
	return b
}

var errNoRemote = coppice.Errorf(coppice.EInvalid, "the repository has no remote")

func trackerSpec(p coppice.TrackerPolicy, f coppice.ForgePolicy) coppice.TrackerSpec {
	return coppice.TrackerSpec{ForgeSpec: coppice.ForgeSpec{Forge: f}, Tracker: p}
}

func TestTrackerClients(t *testing.T) {
	t.Parallel()
	b := trackers(t)
	b.memory.Change("7", func(r *coppice.IssueRead) { r.Title, r.Labels = "a hidden title", []string{"agent"} })
	spec := coppice.TrackerReadSpec{TrackerSpec: trackerSpec(coppice.TrackerPolicy{Import: coppice.TrackerImport{Labels: []string{"agent"}}}, coppice.ForgePolicy{}), List: true}
	got, err := b.Read(t.Context(), spec)
	if err != nil || len(got.Issues) != 1 || got.Issues[0].Title != "a *** title" {
		t.Errorf("%+v, %v", got, err)
	}
	yes := true
	wrote, err := b.Write(t.Context(), coppice.TrackerWriteSpec{TrackerSpec: spec.TrackerSpec, Issue: "7", Key: "app-1", Edit: coppice.IssueEdit{Closed: &yes}, Comment: "It landed."})
	if err != nil || !wrote.Issue.Closed || wrote.Issue.Title != "a *** title" {
		t.Errorf("%+v, %v", wrote, err)
	}
	if r, err := b.ReadIssue(t.Context(), spec.TrackerSpec, "7"); err != nil || r.Title != "a *** title" || len(r.Comments) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if want := "github https://api.github.com/ o r t0 tracker"; len(b.opened) != 1 || b.opened[0] != want {
		t.Errorf("opened %q, want %q", b.opened, want)
	}
}

func TestTrackerOfEachKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy  coppice.TrackerPolicy
		forge   coppice.ForgePolicy
		address string // "" means that there is no remote
		want    string // what is opened, or the field of the error
	}{
		"the forge":              {address: "https://github.com/o/r", want: "github https://api.github.com/ o r t0 tracker"},
		"its token":              {address: "https://github.com/o/r", forge: coppice.ForgePolicy{Token: "MINE"}, want: "github https://api.github.com/ o r t1 tracker"},
		"another token":          {address: "https://github.com/o/r", policy: coppice.TrackerPolicy{Kind: "github", Token: "GITLAB_TOKEN"}, forge: coppice.ForgePolicy{Token: "MINE"}, want: "github https://api.github.com/ o r t2 tracker"},
		"another repository":     {address: "https://github.com/o/r", policy: coppice.TrackerPolicy{Repo: "o/issues"}, want: "github https://api.github.com/ o issues t0 tracker"},
		"another forge":          {address: "https://gitlab.com/o/r", policy: coppice.TrackerPolicy{Kind: "github", Repo: "o/i"}, forge: coppice.ForgePolicy{Token: "MINE"}, want: "github https://api.github.com/ o i t0 tracker"},
		"linear":                 {policy: coppice.TrackerPolicy{Kind: "linear", Team: "ENG", Token: "MINE"}, want: "linear https://api.linear.app/graphql  ENG t1 tracker"},
		"linear, without token":  {policy: coppice.TrackerPolicy{Kind: "linear", Team: "ENG"}, want: "LINEAR_API_KEY is missing"},
		"linear, without team":   {policy: coppice.TrackerPolicy{Kind: "linear"}, want: "tracker.team"},
		"no forge":               {want: "has no remote"},
		"a path":                 {address: "/srv/r.git", want: "forge.kind"},
		"no repository":          {address: "https://gitlab.com/o/r", policy: coppice.TrackerPolicy{Kind: "github"}, want: "tracker.repo"},
		"no address":             {address: "https://github.com/o/r", policy: coppice.TrackerPolicy{Kind: "gitea", Repo: "o/r"}, want: "tracker.url"},
		"a bad repository":       {address: "https://github.com/o/r", policy: coppice.TrackerPolicy{Repo: "r"}, want: "tracker.repo"},
		"an unknown kind":        {address: "https://github.com/o/r", policy: coppice.TrackerPolicy{Kind: "paper"}, want: "tracker.kind"},
		"a kind that is missing": {address: "https://gitlab.com/o/r", want: "is not a kind of tracker"},
	} {
		b := trackers(t)
		b.address = c.address
		spec := trackerSpec(c.policy, c.forge)
		_, err := b.ReadIssue(t.Context(), spec, "7")
		got := strings.Join(b.opened, ", ")
		if e := coppice.Public(err); len(b.opened) == 0 || !errors.Is(err, e) || e.Code != coppice.ENotFound {
			got = e.Cause + " " + e.Field
			if e.Fix == "" && err != errNoRemote && name != "a kind that is missing" {
				t.Errorf("%s: %v has no fix", name, err)
			}
		}
		if got != c.want && (strings.HasPrefix(c.want, "github http") || strings.HasPrefix(c.want, "linear http") || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if ready := b.Ready(t.Context(), spec); (ready == nil) != (len(b.opened) > 0 && !strings.Contains(c.want, "missing")) && name != "a kind that is missing" {
			t.Errorf("%s: ready: %v", name, ready)
		}
	}
	b := trackers(t)
	b.secrets["GITHUB_TOKEN"] = ""
	if err := b.Ready(t.Context(), coppice.TrackerSpec{}); coppice.Public(err).Fix != "store the token of the tracker: coppice secret set GITHUB_TOKEN" {
		t.Errorf("an empty token: %v", err)
	}
}

// TestTrackerFailures checks what people read when a tracker refuses a request.
func TestTrackerFailures(t *testing.T) {
	t.Parallel()
	status := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(s.Close)
	b := trackers(t)
	b.Forges.Transport = http.DefaultTransport
	b.Kinds["github"] = func(r forge.Remote, o forge.Options) (forge.Tracker, error) {
		client, err := forge.Client(r, o)
		b.memory.Before = func(ctx context.Context, _ string) error {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, r.API, nil)
			_, err := client.Do(req)
			return forge.Cause(err)
		}
		return &b.memory, err
	}
	spec := trackerSpec(coppice.TrackerPolicy{URL: s.URL, Kind: "github"}, coppice.ForgePolicy{})
	for code, want := range map[int][2]string{
		401: {"refuses the token", "coppice secret set GITHUB_TOKEN, or the name in tracker.token"}, 404: {"does not have this", "check tracker.repo"},
		429: {"limits the number of requests", ""}, 500: {"answers with the error 500", "status page"},
	} {
		status = code
		_, err := b.ReadIssue(t.Context(), spec, "7")
		if e := coppice.Public(err); !strings.Contains(e.Cause, want[0]) || !strings.Contains(e.Fix, want[1]) {
			t.Errorf("%d: %q, fix %q", code, e.Cause, e.Fix)
		}
	}
	s.Close()
	_, err := b.ReadIssue(t.Context(), spec, "7")
	if e := coppice.Public(err); !strings.Contains(e.Cause, "cannot reach") || !strings.Contains(e.Fix, "tracker.url") {
		t.Errorf("no server: %q, fix %q", e.Cause, e.Fix)
	}
}
