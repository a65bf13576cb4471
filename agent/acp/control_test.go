package acp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// out passes the driver a line.
func out(d agent.Driver, line string) agent.Step {
	return d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0",`+line+"}\n"))
}

func with(change func(*coppice.DriverProfile)) coppice.Profile {
	p := suite.Profile
	change(&p.Driver)
	return p
}

var direct = with(func(d *coppice.DriverProfile) { d.Messages = "now" })

// A message during a turn is sent to an agent that accepts it. However it
// answers the two prompts, they are one turn, and their usage counts one time.
func TestJoins(t *testing.T) {
	t.Parallel()
	const used = `"usage":{"inputTokens":100,"outputTokens":10}`
	for _, c := range []struct {
		name    string
		answers []string
		tokens  int64
		class   coppice.Class
	}{
		{"one after the other", []string{`"id":3,"result":{"stopReason":"end_turn"}`, `"id":4,"result":{"stopReason":"end_turn",` + used + `}`}, 100, ""},
		{"both report the same", []string{`"id":3,"result":{"stopReason":"end_turn",` + used + `}`, `"id":4,"result":{"stopReason":"end_turn",` + used + `}`}, 100, ""},
		{"each reports its own", []string{`"id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":7}}`, `"id":4,"result":{"stopReason":"end_turn",` + used + `}`}, 107, ""},
		{"the other way round", []string{`"id":4,"result":{"stopReason":"end_turn",` + used + `}`, `"id":3,"result":{"stopReason":"end_turn"}`}, 100, ""},
		{"the first failed", []string{`"id":3,"error":{"code":1,"message":"500"}`, `"id":4,"result":{"stopReason":"end_turn",` + used + `}`}, 100, ""},
		{"the last failed", []string{`"id":3,"result":{"stopReason":"end_turn"}`, `"id":4,"error":{"code":1,"message":"529 overloaded"}`}, 0, coppice.ClassOverload},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := New().Driver(direct, agent.Request{Prompt: "x"})
			open(d)
			step, err := d.Send("and this", "")
			if err != nil || !strings.Contains(string(step.Write), `"id":4,"method":"session/prompt"`) || len(events(step, coppice.KindNotice)) != 1 {
				t.Fatalf("wrote %s, events %+v, error %v; want the prompt 4 and one notice", step.Write, step.Events, err)
			}
			first := out(d, c.answers[0])
			if first.CloseStdin || len(events(first, coppice.KindTurn)) != 0 {
				t.Errorf("the turn ended with the first answer: %+v", first)
			}
			last := out(d, c.answers[1])
			if !last.CloseStdin || len(events(last, coppice.KindTurn)) != 1 {
				t.Errorf("the turn did not end: %+v", last)
			}
			_, o := d.Exit(agent.Exit{})
			if o.Usage.InputTokens != c.tokens || (o.Failure == nil) != (c.class == "") || (o.Failure != nil && o.Failure.Class != c.class) {
				t.Errorf("usage %+v, failure %+v", o.Usage, o.Failure)
			}
		})
	}
}

// A message that joined a turn is not lost if the turn is interrupted or its
// agent dies.
func TestJoinedMessageIsKept(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"3", "4"}, {"4", "3"}} {
		d := New().Driver(direct, agent.Request{Prompt: "x"})
		open(d)
		d.Send("and this", "")
		if _, err := d.Interrupt(); err != nil {
			t.Fatal(err)
		}
		d.Send("a third", "") // which waits, for the turn is being cancelled
		out(d, `"id":`+order[0]+`,"result":{"stopReason":"cancelled"}`)
		step := out(d, `"id":`+order[1]+`,"result":{"stopReason":"cancelled"}`)
		if w := string(step.Write); !strings.Contains(w, "and this") || strings.Contains(w, "a third") {
			t.Errorf("%s: next comes %s", order, w)
		}
	}
	d := New().Driver(direct, agent.Request{Prompt: "x"})
	open(d)
	d.Send("and this", "")
	step, o := d.Exit(agent.Exit{Code: -1, Signal: "SIGKILL"})
	if n := events(step, coppice.KindNotice); len(n) != 1 || n[0].Name != coppice.NameUndelivered || n[0].Text != "and this" || o.Failure.Class != coppice.ClassLost {
		t.Errorf("events %+v, failure %+v; want one notice about the unread message, and a lost agent", step.Events, o.Failure)
	}
	// A message that the agent had started with was read.
	d = New().Driver(direct, agent.Request{Prompt: "x"})
	open(d)
	d.Send("and this", "")
	out(d, `"id":3,"result":{"stopReason":"end_turn"}`)
	if step, _ := d.Exit(agent.Exit{Code: -1, Signal: "SIGKILL"}); len(events(step, coppice.KindNotice)) != 0 {
		t.Errorf("events %+v, want no notice", step.Events)
	}
}

// Every message is sent or reported as undelivered, whatever the order of
// messages, interrupts and answers.
func TestEveryMessageIsAccountedFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		profile := suite.Profile
		if rapid.Bool().Draw(rt, "direct") {
			profile = direct
		}
		d := New().Driver(profile, agent.Request{Prompt: "m0"})
		var wrote strings.Builder
		undelivered := map[string]bool{}
		see := func(s agent.Step) {
			wrote.Write(s.Write)
			for _, e := range s.Events {
				if e.Name == coppice.NameUndelivered {
					undelivered[e.Text] = true
				}
			}
		}
		see(open(d))
		var taken, asked []string
		for i := range rapid.IntRange(0, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				text := "m" + string(rune('a'+i))
				if s, err := d.Send(text, ""); err == nil {
					see(s)
					taken = append(taken, text)
				}
			case 2:
				s, _ := d.Interrupt()
				see(s)
			case 3:
				asked = asked[:0]
				for line := range strings.Lines(wrote.String()) {
					var m jsonrpc.Message
					if json.Unmarshal([]byte(line), &m) == nil && m.Method == "session/prompt" {
						asked = append(asked, string(m.ID))
					}
				}
				reason := rapid.SampledFrom([]string{"end_turn", "cancelled", "refusal"}).Draw(rt, "reason")
				see(out(d, `"id":`+rapid.SampledFrom(asked).Draw(rt, "id")+`,"result":{"stopReason":"`+reason+`"}`))
			}
		}
		s, _ := d.Exit(agent.Exit{})
		see(s)
		for _, text := range taken {
			if !undelivered[text] && !strings.Contains(wrote.String(), `"`+text+`"`) {
				rt.Errorf("%s was neither sent nor reported as undelivered", text)
			}
		}
	})
}

func costs(usd string) string {
	return `"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","cost":{"amount":` + usd + `,"currency":"USD"}}}`
}

func TestBudget(t *testing.T) {
	t.Parallel()
	run := func(p coppice.Profile) agent.Driver {
		d := New().Driver(p, agent.Request{Prompt: "x", Budget: 0.5})
		open(d)
		return d
	}
	wantBudget := func(d agent.Driver) {
		t.Helper()
		_, o := d.Exit(agent.Exit{})
		if o.Failure == nil || o.Failure.Class != coppice.ClassBudget || o.Failure.Fix == "" || !strings.Contains(o.Failure.Text, "0.60 of 0.50") {
			t.Errorf("failure %+v", o.Failure)
		}
	}
	// During a turn it ends the turn, and the run.
	d := run(suite.Profile)
	if s := out(d, costs("0.4")); len(s.Write) != 0 {
		t.Errorf("cancelled too early: %s", s.Write)
	}
	if s := out(d, costs("0.6")); !strings.Contains(string(s.Write), "session/cancel") {
		t.Errorf("not cancelled: %s", s.Write)
	}
	if s := out(d, costs("0.6")); len(s.Write) != 0 {
		t.Errorf("cancelled twice: %s", s.Write)
	}
	if s := out(d, `"id":3,"result":{"stopReason":"cancelled"}`); !s.CloseStdin {
		t.Errorf("the run continues: %+v", s)
	}
	wantBudget(d)
	// Work that was finished in time counts.
	d = run(suite.Profile)
	out(d, costs("0.6"))
	out(d, `"id":3,"result":{"stopReason":"end_turn"}`)
	if _, o := d.Exit(agent.Exit{}); o.Failure != nil {
		t.Errorf("failure %+v", o.Failure)
	}
	// No further turn is started.
	d = run(suite.Profile)
	d.Send("more", "")
	out(d, costs("0.6"))
	if s := out(d, `"id":3,"result":{"stopReason":"end_turn"}`); len(s.Write) != 0 || !s.CloseStdin {
		t.Errorf("another turn begins: %s", s.Write)
	}
	wantBudget(d)
	// An agent that gets its budget enforces it itself.
	own := suite.Profile
	own.Budget = []string{"--budget", agent.SlotUSD}
	if s := out(run(own), costs("0.6")); len(s.Write) != 0 {
		t.Errorf("cancelled: %s", s.Write)
	}
}

// opened brings a driver to the answer to the opening of its session.
func opened(d agent.Driver, more string) agent.Step {
	d.Start()
	out(d, `"id":1,"result":{"protocolVersion":1}`)
	return out(d, `"id":2,"result":{"sessionId":"s1"`+more+`}`)
}

func TestEffort(t *testing.T) {
	t.Parallel()
	const levels = `,"configOptions":[{"id":"how","category":"thought_level","options":[{"value":"low"}]}]`
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Effort: "low"})
	if s := opened(d, levels); !strings.Contains(string(s.Write), `"id":3,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"how","value":"low"}`) {
		t.Errorf("the first request is %s, want the level low", s.Write)
	}
	if s := out(d, `"id":3,"result":{}`); !strings.Contains(string(s.Write), "session/prompt") {
		t.Errorf("after the level it wrote %s, want a prompt", s.Write)
	}
	d = New().Driver(suite.Profile, agent.Request{Prompt: "x", Effort: "low"})
	opened(d, levels)
	out(d, `"id":3,"error":{"code":-32602,"message":"no such level"}`)
	if _, o := d.Exit(agent.Exit{}); o.Failure == nil || o.Failure.Class != coppice.ClassCapability || !strings.Contains(o.Failure.Text, "no such level") {
		t.Errorf("an unknown level: failure %+v, want the class capability", o.Failure)
	}
	d = New().Driver(suite.Profile, agent.Request{Prompt: "x", Effort: "low"})
	if s := opened(d, ""); !strings.Contains(string(s.Write), "session/prompt") || len(events(s, coppice.KindNotice)) != 1 {
		t.Errorf("without levels it wrote %s, events %+v; want a prompt and a notice", s.Write, s.Events)
	}
	// The choices come with the model.
	d = New().Driver(suite.Profile, agent.Request{Prompt: "x", Effort: "low", Model: "m"})
	opened(d, `,"models":{"currentModelId":"n"}`)
	if s := out(d, `"id":3,"result":{`+levels[1:]+`}`); !strings.Contains(string(s.Write), `"configId":"how"`) {
		t.Errorf("after the model it wrote %s, want the level", s.Write)
	}
}

// A model is known by its vendor's name and by the agent's.
func TestModelNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ session, model, want string }{
		{`,"models":{"availableModels":[{"modelId":"m2(key)","name":"m2"}]}`, "m2", `"modelId":"m2(key)"`},
		{`,"models":{"availableModels":[{"modelId":"x","name":"m2"},{"modelId":"m2","name":"other"}]}`, "m2", `"modelId":"m2"`},
		{`,"models":{"availableModels":[]}`, "m2", `"modelId":"m2"`},
		{`,"configOptions":[{"id":"model","options":[{"name":"A","options":[{"value":"p/m2","name":"m2"}]}]}]`, "m2", `"value":"p/m2"`},
		{`,"configOptions":[{"id":"model","options":7}]`, "m2", `"value":"m2"`},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Model: c.model})
		if s := opened(d, c.session); !strings.Contains(string(s.Write), c.want) {
			t.Errorf("%s: %s, want %s", c.session, s.Write, c.want)
		}
	}
}

// An agent has to ask only in sessions that have rules or enforced locks.
func TestMadeToAsk(t *testing.T) {
	t.Parallel()
	deny := coppice.PermissionPolicy{Default: coppice.RuleDeny}
	args := coppice.DriverProfile{AskArgs: []string{"-c", "a=b"}}
	env := coppice.DriverProfile{AskEnv: map[string]string{"ASK": `{"*":"ask"}`}}
	for _, c := range []struct {
		how            coppice.DriverProfile
		argv, variable string
		policy         coppice.PermissionPolicy
		locks          string
	}{
		{args, "agent --acp -c a=b", "", deny, ""},
		{env, "agent --acp", `{"*":"ask"}`, deny, ""},
		{args, "agent --acp", "", coppice.PermissionPolicy{}, ""},
		{env, "agent --acp", "", coppice.PermissionPolicy{}, ""},
		{coppice.DriverProfile{}, "agent --acp", "", deny, ""},
		{args, "agent --acp -c a=b", "", coppice.PermissionPolicy{}, coppice.LocksEnforce},
		{env, "agent --acp", `{"*":"ask"}`, coppice.PermissionPolicy{}, coppice.LocksRequired},
		{args, "agent --acp", "", coppice.PermissionPolicy{}, coppice.LocksAdvisory},
	} {
		l, err := New().Launch(with(func(d *coppice.DriverProfile) { *d = c.how }), agent.Request{Permissions: c.policy, Locks: c.locks})
		if err != nil || strings.Join(l.Argv, " ") != c.argv || l.Env["ASK"] != c.variable {
			t.Errorf("%+v: arguments %q, variables %v, error %v; want %q and ASK=%s", c.how, l.Argv, l.Env, err, c.argv, c.variable)
		}
	}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	p := with(func(d *coppice.DriverProfile) { d.Meta = `{"a":{"most":"{usd}","b":1}}` })
	for budget, want := range map[float64]string{0: `"_meta":{"a":{"b":1}}`, 0.5: `"_meta":{"a":{"b":1,"most":0.5}}`} {
		d := New().Driver(p, agent.Request{Prompt: "x", Budget: budget})
		d.Start()
		if s := out(d, `"id":1,"result":{"protocolVersion":1}`); !strings.Contains(string(s.Write), want) {
			t.Errorf("%s, want %s", s.Write, want)
		}
	}
}

// Some agents end their turn when a call is refused. They get the reason, one
// time.
func TestRefusedTurnContinues(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Permissions: coppice.PermissionPolicy{Default: coppice.RuleDeny}})
	open(d)
	out(d, strings.TrimSuffix(strings.TrimPrefix(asks, `{"jsonrpc":"2.0",`), "}\n"))
	if s := out(d, `"id":3,"result":{"stopReason":"cancelled"}`); !strings.Contains(string(s.Write), "were refused") || len(events(s, coppice.KindError)) != 0 {
		t.Errorf("wrote %s, events %+v; want a prompt that names the refusals, and no error", s.Write, s.Events)
	}
	out(d, strings.TrimSuffix(strings.TrimPrefix(asks, `{"jsonrpc":"2.0",`), "}\n"))
	if s := out(d, `"id":4,"result":{"stopReason":"cancelled"}`); !s.CloseStdin {
		t.Errorf("wrote %s, events %+v; want a closed stdin", s.Write, s.Events)
	}
	if _, o := d.Exit(agent.Exit{}); o.Failure == nil || o.Failure.Class != coppice.ClassImplementation {
		t.Errorf("failure %+v, want the class implementation", o.Failure)
	}
}

func refs(s agent.Step) (all []string) {
	for _, e := range events(s, coppice.KindQuestion) {
		all = append(all, e.Ref)
	}
	return all
}

// A person answers the agent's own questions, and its form is filled in.
func TestForms(t *testing.T) {
	t.Parallel()
	form := func(properties string) string {
		return `"id":"e1","method":"elicitation/create","params":{"mode":"form","sessionId":"s1","message":"Well?","requestedSchema":{"type":"object","properties":` + properties + `}}`
	}
	const ask = `"id":"e1","method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","kind":"think","rawInput":{"questions":[{"question":"Which?","options":[{"label":"red"},{"label":"blue"}]}]}},` +
		`"options":[{"optionId":"go","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}`
	for _, c := range []struct {
		name, line string
		answers    []string
		want       string
	}{
		{"text", form(`{"q":{"type":"string"}}`), []string{"as you like"}, `"result":{"action":"accept","content":{"q":"as you like"}}`},
		{"an option", form(`{"q":{"type":"string","oneOf":[{"const":"red"},{"const":"Blue"}]}}`), []string{" blue "}, `"content":{"q":"Blue"}`},
		{"of another's own", form(`{"q":{"type":"string","enum":["red"]},"q_custom":{"type":"string"}}`), []string{"green"}, `"content":{"q_custom":"green"}`},
		{"two", form(`{"z":{"type":"string","description":"First?"},"a":{"type":"boolean"}}`), []string{"x", "yes"}, `"content":{"a":true,"z":"x"}`},
		{"numbers", form(`{"n":{"type":"integer"},"x":{"type":"number"}}`), []string{"7", "2.5"}, `"content":{"n":7,"x":2.5}`},
		{"several", form(`{"q":{"type":"array","items":{"anyOf":[{"const":"a"},{"const":"b"}]}}}`), []string{"b, A"}, `"content":{"q":["b","a"]}`},
		{"as a permission", ask, []string{"neither"}, `"result":{"answers":{"0":"neither"},"outcome":{"outcome":"selected","optionId":"go"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
			open(d)
			step := out(d, c.line)
			asked := refs(step)
			if len(asked) != len(c.answers) || len(step.Write) != 0 || !slices.ContainsFunc(step.Events, func(e coppice.AgentEvent) bool { return e.State == coppice.SessionWaiting }) {
				t.Fatalf("step %+v, want %d questions and a session that waits", step, len(c.answers))
			}
			for i, a := range c.answers {
				var err error
				if step, err = d.Send(a, asked[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(string(step.Write), c.want) || step.Events[len(step.Events)-1].State != coppice.SessionWorking {
				t.Errorf("%s %+v, want %s", step.Write, step.Events, c.want)
			}
			if _, err := d.Send("again", asked[0]); err == nil {
				t.Error("an answered question takes another answer")
			}
		})
	}

	t.Run("wrong answers", func(t *testing.T) {
		t.Parallel()
		for properties, answer := range map[string]string{
			`{"q":{"type":"string","enum":["red"]}}`:            "green",
			`{"q":{"type":"integer"}}`:                          "2.5",
			`{"q":{"type":"number"}}`:                           "many",
			`{"q":{"type":"array","items":{"enum":["a","b"]}}}`: "a, c",
		} {
			d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
			open(d)
			ref := refs(out(d, form(properties)))[0]
			if _, err := d.Send(answer, ref); coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%s: %q gives %v", properties, answer, err)
			}
			if s, err := d.Interrupt(); err != nil || !strings.Contains(string(s.Write), `"action":"cancel"`) {
				t.Errorf("the question does not end with the turn: %s %v", s.Write, err)
			}
		}
	})

	t.Run("what cannot be asked", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{
			form(`{}`), form(`7`), form(`{"q":7}`),
			`"id":1,"method":"elicitation/create","params":{"mode":"url","url":"http://x","message":"Log in"}`,
			`"id":1,"method":"elicitation/create","params":[]`,
		} {
			d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
			open(d)
			if s := out(d, line); !strings.Contains(string(s.Write), `"action":"decline"`) || len(refs(s)) != 0 {
				t.Errorf("%s: answered with %s, want it declined without a question", line, s.Write)
			}
		}
	})

	// A rule against the tool counts, and a tool that only has such an input is
	// not a question.
	t.Run("rules", func(t *testing.T) {
		t.Parallel()
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Permissions: coppice.PermissionPolicy{Default: coppice.RuleDeny}})
		open(d)
		if s := out(d, ask); !strings.Contains(string(s.Write), `"optionId":"no"`) || len(refs(s)) != 0 {
			t.Errorf("answered with %s, want no", s.Write)
		}
		d = New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		if s := out(d, strings.Replace(ask, `{"optionId":"no"`, `{"optionId":"ever","kind":"allow_always"},{"optionId":"no"`, 1)); len(refs(s)) != 0 || !strings.Contains(string(s.Write), `"optionId":"go"`) {
			t.Errorf("answered with %s, want go, once", s.Write)
		}
	})
}
