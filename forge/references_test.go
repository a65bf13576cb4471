package forge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "|",
		"blocked by #12":                    "12|",
		"Blocked by: #12, #13 and #14.\r\n": "12 13 14|",
		"**Blocked by:** #12":               "12|",
		"**Blocked by** #12 #3":             "12 3|",
		"- blocked by #12\n* Blocked by #7, and #8":  "12 7 8|",
		"- [ ] #12\n- [x] #13 the second\n* [X] #14": "|12 13 14",
		"  - [ ] #12":                            "|12",
		"- [ ] see #12":                          "|",
		"- [ ] #12a":                             "|",
		"It is not blocked by #12":               "|",
		"blocked by 12":                          "|",
		"blocked by #0":                          "|",
		"```\nblocked by #12\n```\n- [ ] #13":    "|13",
		"~~~\n```\nblocked by #12\n~~~":          "|",
		"> blocked by #12":                       "|",
		"blocked by #12\nblocked by #012":        "12|",
		"blocked by " + strings.Repeat("#1 ", 3): "1|",
	} {
		blockers, children := forge.References(text)
		if got := strings.Join(blockers, " ") + "|" + strings.Join(children, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAddReferences(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := coppice.IssueRead{ID: "1", Text: "blocked by #1, #2, #3, #4\n- [ ] #5\n- [ ] #6", BlockedBy: []string{"2"}}
	open := func(_ context.Context, id string) (bool, error) {
		return id != "6" && id != "3", map[string]error{"3": coppice.Errorf(coppice.ENotFound, "gone")}[id]
	}
	if err := forge.AddReferences(t.Context(), &r, true, open); err != nil || strings.Join(r.BlockedBy, " ") != "2 4" || strings.Join(r.Children, " ") != "5" {
		t.Errorf("%+v, %v", r, err)
	}
	r = coppice.IssueRead{ID: "1", Text: "blocked by #3\n- [ ] #5"}
	if err := forge.AddReferences(t.Context(), &r, false, func(context.Context, string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"blocked by #1, #2 and #3", "- [ ] #4\n```\n- [x] #5\n```", "**Blocked by**: #1\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		blockers, children := forge.References(text)
		for _, list := range [][]string{blockers, children} {
			seen := map[string]bool{}
			for _, id := range list {
				if strings.Trim(id, "0123456789") != "" || strings.HasPrefix(id, "0") || id == "" || seen[id] || !strings.Contains(text, id) {
					t.Errorf("%q names %q", text, list)
				}
				seen[id] = true
			}
			if len(list) > coppice.MaxIssueLinks {
				t.Errorf("%d references", len(list))
			}
		}
	})
}
