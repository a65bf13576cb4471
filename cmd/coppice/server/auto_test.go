package server

import (
	"net/http/httptest"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/test/scriptedmodel"
)

const autoRules = `{"rules":[
  {"match":"BROKEN","steps":[{"status":500}]},
  {"match":"NONSENSE","steps":[{"text":"I would rather not."}]}
],"default":[{"text":"{\"1\":\"complex\"}"}]}`

// TestAuto: a task whose model is auto runs with the profile's model for the
// level that a model, or the rules, gave it.
func TestAuto(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys  bool
		title string
		level string
		model string
		shown string // in the API
	}{
		"judged":            {true, "Fix a typo", "complex", "big", "complex by the model"},
		"no key":            {false, "Fix a typo", "", "small", "simple by the rules"},
		"a broken service":  {true, "Fix a typo (BROKEN)", "", "small", "simple by the rules"},
		"nonsense":          {true, "Refactor it (NONSENSE)", "", "big", "complex by the rules"},
		"a model of theirs": {true, "OWN", "", "mine", " by "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			rules, err := scriptedmodel.ParseRules([]byte(autoRules))
			b.must(err)
			model := scriptedmodel.New(rules, nil)
			srv := httptest.NewServer(model)
			t.Cleanup(srv.Close)
			if c.keys {
				b.cfg.Environ = append(b.cfg.Environ, "ANTHROPIC_API_KEY=key", "ANTHROPIC_BASE_URL="+srv.URL)
			}
			repo := b.repo(map[string]string{"coppice.yaml": `base: main
agent: {use: quick, model: auto}
limits: {memory: 100%}
verify: {by: none}
agents:
  quick: {protocol: command, command: [sh, -c, "echo hi > hi.txt"], models: {simple: small, medium: middle, complex: big}}
`})
			s, cl := b.start(), b.client()
			p, err := cl.AddProject(b.ctx, repo)
			b.must(err)
			ask := coppice.NewTask{Title: c.title}
			if c.title == "OWN" {
				ask.Model = "mine"
			}
			made, err := cl.CreateTasks(b.ctx, p.Prefix, []coppice.NewTask{ask})
			b.must(err)
			b.await(cl, coppice.EventTaskEnded)
			d, err := cl.Task(b.ctx, made[0].Key)
			b.must(err)
			if got := d.Level + " by " + d.LevelBy; got != c.shown {
				t.Errorf("shown as %s", got)
			}
			b.must(s.store.View(b.ctx, func(r store.Reader) error {
				task, err := r.Tasks.ByKey(made[0].Key)
				if err != nil {
					return err
				}
				session, err := r.Sessions.ByKey(task.Key + ".1")
				if task.Level != c.level || session.Model != c.model {
					t.Errorf("level %q, model %q", task.Level, session.Model)
				}
				return err
			}))
			if asked := len(model.Log()) > 0; asked != (c.keys && c.title != "OWN") {
				t.Errorf("asked: %+v", model.Log())
			}
		})
	}
}
