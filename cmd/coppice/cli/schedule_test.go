package cli_test

import (
	"path/filepath"
	"testing"

	"coppice"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/control"
	"coppice/engine"
	"coppice/store"
	"coppice/test/testfile"
)

func TestScheduleCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "schedule-empty", "schedule", "list")
	s.golden(t, "schedule-add", "schedule", "add", "deps", "Update the dependencies", "--cron", "0 7 * * 1-5", "--label", "deps")
	s.golden(t, "schedule-add-every", "schedule", "add", "triage", "Triage the issues", "--every", "6h", "--always")
	s.golden(t, "schedule-add-again", "schedule", "add", "deps", "x", "--every", "6h")
	s.golden(t, "schedule-add-when", "schedule", "add", "x", "x")
	s.golden(t, "schedule-add-cron", "schedule", "add", "x", "x", "--cron", "7 * *")
	s.golden(t, "schedule-add-spec", "schedule", "add", "x", "x", "--every", "6h", "--spec", "-")
	s.golden(t, "schedule-pause", "schedule", "pause", "deps")
	s.golden(t, "schedule-list", "schedule", "list")
	s.golden(t, "schedule-resume", "schedule", "resume", "deps")
	s.golden(t, "schedule-show", "schedule", "show", "deps")
	s.golden(t, "schedule-show-json", "schedule", "show", "deps", "--json")
	s.golden(t, "schedule-show-missing", "schedule", "show", "none")
	s.golden(t, "schedule-run", "schedule", "run", "triage")
	s.golden(t, "schedule-remove", "schedule", "remove", "deps")
}

func TestTemplateCommands(t *testing.T) {
	t.Parallel()
	templates := &control.Templates{}
	s := setup(t, func(c *apihttp.Config) { c.Templates = templates })
	s.fill()
	dir := t.TempDir()
	s.Must(s.Store.Update(s.Ctx, func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		p.Path = dir
		return tx.Projects.Put(&p)
	}))
	s.env.Dir = dir
	engine.WithTemplates(templates.Expand)(s.Intake)
	s.golden(t, "template-empty", "template", "list")
	file := filepath.Join(t.TempDir(), "upgrade.md")
	testfile.Write(t, file, "---\ntitle: Upgrade {{module}}\nmodel: opus\nlabels: [deps]\nvariables:\n  module: {about: the module, required: true}\n---\nUpgrade {{module}}.\n")
	if code, out, errs := s.run("", "template", "edit", "upgrade", "-p", "app", "--file", file); code != 0 || out != "upgrade  .coppice/templates/upgrade.md\n" {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	testfile.Write(t, filepath.Join(dir, ".coppice/templates/broken.md"), "---\nagnet: x\n---\n")
	s.golden(t, "template-list", "template", "list", "-p", "app")
	s.golden(t, "template-show", "template", "show", "upgrade", "-p", "app")
	s.golden(t, "template-show-missing", "template", "show", "none", "-p", "app")
	s.golden(t, "template-stats", "template", "stats", "-p", "app")
	s.golden(t, "template-new", "new", "--template", "upgrade", "--var", "module=cobra", "-p", "app")
	s.golden(t, "template-new-variable", "new", "--template", "upgrade", "-p", "app")
	s.golden(t, "template-new-unknown", "new", "--template", "none", "-p", "app")
	s.golden(t, "template-new-broken", "new", "--template", "broken", "-p", "app")
	s.golden(t, "template-new-var", "new", "--template", "upgrade", "--var", "module", "-p", "app")
	page, err := s.Client.Tasks(s.Ctx, client.TaskQuery{Text: "Upgrade"})
	s.Must(err)
	if len(page.Tasks) != 1 || page.Tasks[0].Model != "opus" || page.Tasks[0].Title != "Upgrade cobra" {
		t.Errorf("%+v", page.Tasks)
	}
	stored, err := read(s, page.Tasks[0].ID)
	s.Must(err)
	if stored.Template != "upgrade" || stored.Body != "Upgrade cobra." {
		t.Errorf("%+v", stored)
	}
}

func read(s *shell, id int64) (t coppice.Task, err error) {
	err = s.Store.View(s.Ctx, func(r store.Reader) error {
		t, err = r.Tasks.Get(id)
		return err
	})
	return t, err
}
