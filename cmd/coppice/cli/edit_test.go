package cli_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"coppice"
)

func TestNewInEditor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	var offered string
	write := func(text string) {
		s.env.Edit = func(_ context.Context, path string) error {
			b, err := os.ReadFile(path)
			if offered = string(b); err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(text, "…", offered, 1)), 0o600)
		}
	}
	help := "\n# The first line is the title, the rest is the description. Lines from here to the\n# end are ignored. An empty text creates nothing.\n"
	for _, c := range []struct{ args, text, offers, title, body string }{
		{"-e", "Greet\n\nAll of them.\nTwice.\n…", "\n" + help, "Greet", "All of them.\nTwice."},
		{"-e Hello", "…", "Hello\n" + help, "Hello", ""},
		{"-e Hello --body More", "…", "Hello\n\nMore\n" + help, "Hello", "More"},
		{"--edit", "# A heading\n# is not a comment\n", "\n" + help, "# A heading", "# is not a comment"},
		{"-e", strings.Repeat("long ", 200) + "\nend", "\n" + help, "long long long long long long long long long long long long long long…", strings.TrimSpace(strings.Repeat("long ", 200)) + "\nend"},
	} {
		write(c.text)
		code, out, errs := s.run("", append([]string{"new"}, strings.Fields(c.args)...)...)
		if code != 0 || offered != c.offers {
			t.Fatalf("%s: %d %s%s\noffered %q", c.args, code, out, errs, offered)
		}
		key, _, _ := strings.Cut(out, " ")
		d, err := s.Client.Task(s.Ctx, key)
		s.Must(err)
		if d.Title != c.title || strings.ReplaceAll(d.Body, " \n", "\n") != c.body {
			t.Errorf("%s: title %q, body %q", c.args, d.Title, d.Body)
		}
	}
	write("  \n\n…")
	if code, _, errs := s.run("", "new", "-e"); code != 1 || !strings.Contains(errs, "nothing was created") {
		t.Errorf("an empty text: %d %s", code, errs)
	}
	s.env.Edit = func(context.Context, string) error { return coppice.Errorf(coppice.EUnavailable, "the editor failed") }
	if code, _, errs := s.run("", "new", "-e"); code != 1 || !strings.Contains(errs, "the editor failed") {
		t.Errorf("a broken editor: %d %s", code, errs)
	}
	for _, line := range []string{"new -e -", "new -e --file x"} {
		if code, _, errs := s.run("", strings.Fields(line)...); code != 2 || !strings.Contains(errs, "both given") {
			t.Errorf("%s: %d %s", line, code, errs)
		}
	}
	page, err := s.Client.Status(s.Ctx, "app")
	if s.Must(err); page.Counts[coppice.StatusWaiting] != 5 {
		t.Errorf("created %v", page.Counts)
	}
}

func TestNewFromText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	if code, out, errs := s.run("Greet\n\nAll of them.\n", "new", "-"); code != 0 || !strings.HasPrefix(out, "app-1  Greet\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, errs := s.run("", "new", "--body", "Add a flag. It prints JSON."); code != 0 || !strings.HasPrefix(out, "app-2  Add a flag\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for _, line := range []string{"new", "new -", "new --body ***", "new - --body x"} {
		if code, _, errs := s.run(" \n", strings.Fields(line)...); code == 0 || !strings.Contains(errs, "\n→ ") {
			t.Errorf("%s: %d %s", line, code, errs)
		}
	}
	s.Session("app-1", coppice.SessionWorking, nil)
	if code, _, errs := s.run("use the parser\n", "send", "app-1", "-"); code != 0 {
		t.Errorf("send: %s", errs)
	}
	d, err := s.Client.Task(s.Ctx, "app-1")
	if s.Must(err); len(d.Messages) != 1 || d.Messages[0].Text != "use the parser\n" {
		t.Errorf("sent %+v", d.Messages)
	}
}
