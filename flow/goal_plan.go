package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
)

// The documents of a goal with a plan. A person edits the plan, or comments on it: then
// the lead writes it again. The state says which task wrote it, and how often the flow
// had been resumed then: a later resume approves the plan.
const (
	goalPlanDoc     = "plan"
	goalStateDoc    = "plan-state"
	goalCommentsDoc = "plan-comments"
)

// Limits of a plan.
const (
	mostPlanTasks = 50
	mostPlanTries = 2 // steps that write it, for the same comments
)

// goalPlanSchema is the schema of the answer of the step that writes the plan.
var goalPlanSchema = json.RawMessage(`{"type": "object", "required": ["tasks"], "properties": {"tasks": {"type": "array", "minItems": 1, "maxItems": 50, "items": {
  "type": "object", "required": ["id", "title", "description", "dependencies", "effort", "scope"], "properties": {
    "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,30}$", "description": "A short name, unique in the plan"},
    "title": {"type": "string", "description": "What should be done, in a line"},
    "description": {"type": "string", "description": "Everything that the worker needs to know, and how to see that it is done"},
    "dependencies": {"type": "array", "items": {"type": "string"}, "description": "The ids of tasks that must be done first"},
    "effort": {"type": "string", "enum": ["low", "medium", "high"]},
    "scope": {"type": "array", "maxItems": 20, "items": {"type": "string"}, "description": "The files that it changes, as paths or patterns"}}}}}}`)

// planTask is a task of a plan.
type planTask struct {
	ID          string         `json:"id"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	After       []string       `json:"dependencies"`
	Effort      string         `json:"effort"`
	Scope       []string       `json:"scope"`
	lines       map[string]int // of the document, by field; that of the task itself is id
}

var planID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`) })

var efforts = []string{"low", "medium", "high"}

// checkPlan returns what is wrong with the tasks of a plan, and in which line of the
// document; 0 if that is not known.
func checkPlan(tasks []planTask) (line int, problem string) {
	if len(tasks) == 0 || len(tasks) > mostPlanTasks {
		return 0, fmt.Sprintf("the plan has %s, 1 to %d are allowed", plural(len(tasks), "task"), mostPlanTasks)
	}
	index := map[string]int{}
	for n, t := range tasks {
		if _, twice := index[t.ID]; twice {
			return t.lines["id"], fmt.Sprintf("the id %s is used twice", coppice.Quote(t.ID))
		}
		index[t.ID] = n
		switch {
		case !planID().MatchString(t.ID):
			return t.lines["id"], fmt.Sprintf("%s is not a valid id; use up to 31 lower-case letters, digits and dashes", coppice.Quote(t.ID))
		case coppice.ValidTitle(t.Title) != nil:
			return t.lines["id"], "the title is empty or not valid"
		case !slices.Contains(efforts, t.Effort):
			return t.lines["effort"], fmt.Sprintf("%s is not a valid effort; use low, medium or high", coppice.Quote(t.Effort))
		case coppice.ValidText("description", t.Description, mostTask) != nil:
			return t.lines["description"], fmt.Sprintf("the description has more than %d bytes or is not valid text", mostTask)
		}
		if err := CheckScope(t.Scope); err != nil {
			return t.lines["scope"], coppice.Public(err).Cause
		}
	}
	for n, t := range tasks {
		for _, id := range t.After {
			if _, ok := index[id]; !ok {
				return t.lines["after"], fmt.Sprintf("there is no task %s to come after", coppice.Quote(id))
			}
		}
		if reaches(tasks, index, n, n, map[int]bool{}) {
			return t.lines["after"], fmt.Sprintf("%s comes after itself", t.ID)
		}
	}
	return 0, ""
}

// reaches reports whether a task comes after another one, perhaps with tasks between.
func reaches(tasks []planTask, index map[string]int, from, to int, seen map[int]bool) bool {
	for _, id := range tasks[from].After {
		n := index[id]
		if n == to {
			return true
		}
		if !seen[n] {
			seen[n] = true
			if reaches(tasks, index, n, to, seen) {
				return true
			}
		}
	}
	return false
}

// planOverlaps returns the pairs of tasks that can run at the same time and change the
// same files.
func planOverlaps(tasks []planTask) (list []string) {
	index := map[string]int{}
	for n, t := range tasks {
		index[t.ID] = n
	}
	for a := range tasks {
		for b := range tasks[:a] {
			if reaches(tasks, index, a, b, map[int]bool{}) || reaches(tasks, index, b, a, map[int]bool{}) {
				continue
			}
			if both := Overlaps(tasks[b].Scope, tasks[a].Scope); len(both) > 0 {
				list = append(list, fmt.Sprintf("%s and %s change the same files: %s", tasks[b].ID, tasks[a].ID, strings.Join(both, "; ")))
			}
		}
	}
	return list
}

// planIntro explains the document. Lines that start with > are written by Coppice.
var planIntro = []string{
	"Each task is a line `- [ ] id: title`, with its fields below it: description, after, effort and scope.",
	"Edit it as you like, then approve it with `coppice flow resume`. Coppice checks a task off when its work is done.",
}

// writePlan writes the document of a plan.
func writePlan(tasks []planTask) string {
	var b strings.Builder
	b.WriteString("# Plan\n\n")
	for _, t := range tasks {
		fmt.Fprintf(&b, "- [ ] %s: %s\n", t.ID, t.Title)
		for _, f := range []struct{ name, text string }{
			{"description", t.Description}, {"after", strings.Join(t.After, ", ")}, {"effort", t.Effort}, {"scope", strings.Join(t.Scope, ", ")},
		} {
			if f.text = strings.TrimSpace(f.text); f.text != "" {
				fmt.Fprintf(&b, "  - %s: %s\n", f.name, strings.ReplaceAll(f.text, "\n", "\n    "))
			}
		}
	}
	return b.String()
}

var (
	planTaskLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-*] \[([ xX])\] ([^\s:]+): *(.*)$`) })
	planFieldLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?: {2,3}|\t)[-*] ([a-z]+):(?: (.*))?$`) })
)

// parsePlan reads the document of a plan. An error names the line.
func parsePlan(text string) (tasks []planTask, problem string) {
	field := ""
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		wrong := func(format string, args ...any) ([]planTask, string) {
			return nil, fmt.Sprintf("line %d of the plan: ", n+1) + fmt.Sprintf(format, args...)
		}
		if m := planTaskLine().FindStringSubmatch(line); m != nil {
			tasks, field = append(tasks, planTask{ID: m[2], Title: strings.TrimSpace(m[3]), Effort: "medium", lines: map[string]int{"id": n + 1}}), ""
			continue
		}
		m := planFieldLine().FindStringSubmatch(line)
		switch {
		case m != nil && len(tasks) == 0:
			return wrong("a field comes before the first task")
		case m != nil:
			t := &tasks[len(tasks)-1]
			if field = m[1]; t.lines[field] != 0 {
				return wrong("the field %s is given twice", field)
			}
			t.lines[field] = n + 1
			switch value := strings.TrimSpace(m[2]); field {
			case "description":
				t.Description = m[2]
			case "after":
				t.After = splitList(value)
			case "effort":
				t.Effort = value
			case "scope":
				t.Scope = splitList(value)
			default:
				return wrong("there is no field %s; use description, after, effort or scope", coppice.Quote(field))
			}
		case field == "description" && (strings.HasPrefix(line, "    ") || strings.TrimSpace(line) == ""):
			t := &tasks[len(tasks)-1]
			t.Description += "\n" + strings.TrimPrefix(line, "    ")
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ">"):
			field = ""
		default:
			return wrong("%s is neither a task such as `- [ ] parser: Write the parser` nor one of its fields", coppice.Quote(strings.TrimSpace(line)))
		}
	}
	for n := range tasks {
		tasks[n].Description = strings.TrimSpace(tasks[n].Description)
	}
	if line, problem := checkPlan(tasks); problem != "" {
		if line > 0 {
			problem = fmt.Sprintf("line %d of the plan: %s", line, problem)
		}
		return nil, problem
	}
	return tasks, ""
}

func splitList(text string) (list []string) {
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// refreshPlan returns the document with current check-boxes and warnings. Everything
// that a person wrote stays.
func refreshPlan(text string, tasks []planTask, done func(id string) bool) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if m := planTaskLine().FindStringSubmatch(line); m != nil {
			box := "[ ]"
			if done(m[2]) {
				box = "[x]"
			}
			line = line[:2] + box + line[5:]
		}
		if !strings.HasPrefix(line, ">") {
			lines = append(lines, line)
		}
	}
	notes := slices.Clone(planIntro)
	for _, o := range planOverlaps(tasks) {
		notes = append(notes, "Warning: "+o)
	}
	at := 0
	if len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
		at = 1
		if len(lines) > 1 && lines[1] == "" {
			at = 2
		}
	}
	for n := range notes {
		notes[n] = "> " + notes[n]
	}
	return strings.Join(slices.Insert(lines, at, notes...), "\n")
}

// planned returns what follows before the first lead of a goal with a plan.
func (g *goalRun) planned() (Plan, error) {
	switch {
	case g.plan == nil:
		return g.writePlanStep(planKey, "")
	case g.plan.State == Open:
		return Plan{Note: "the lead writes the plan"}, nil
	case g.plan.State != Done:
		return g.stopped(g.plan, "the step that writes the plan"), nil
	}
	resumes, stored := g.storedPlan()
	switch {
	case !stored:
		return g.storePlan()
	case g.commented():
		return g.writePlanStep(g.nextPlanKey(), "")
	}
	doc := g.Docs[goalPlanDoc]
	tasks, problem := parsePlan(doc.Text)
	if problem != "" {
		return Plan{Block: &Block{Class: coppice.ClassUnknown, Text: problem, Fix: "edit the document plan of " + g.Key}}, nil
	}
	p := Plan{}
	if text := refreshPlan(doc.Text, tasks, func(id string) bool { return workerDone(g.Step(plannedWorker + id)) }); text != doc.Text {
		p.Docs = []NewDoc{{Name: goalPlanDoc, Text: text, After: doc.Version, Step: doc.Step}}
	}
	if g.Resumes <= resumes {
		text := "waiting for you to approve the plan"
		if o := planOverlaps(tasks); len(o) > 0 {
			text += " (" + strings.Join(o, "; ") + ")"
		}
		p.Block = &Block{Class: coppice.ClassUnknown, Text: text, Fix: fmt.Sprintf("read or edit the document plan, then run `coppice flow resume %s`", g.Key)}
		return p, nil
	}
	return g.startPlanned(p, tasks)
}

// storedPlan reports whether the plan of the newest step is stored, and how often the
// flow had been resumed then.
func (g *goalRun) storedPlan() (resumes int, ok bool) {
	var by string
	n, _ := fmt.Sscanf(g.Docs[goalStateDoc].Text, "task: %s\nresumes: %d", &by, &resumes)
	return resumes, n == 2 && by == g.plan.Task
}

// commented reports whether a person has commented on the plan since it was written.
// Comments no longer count when a worker has started.
func (g *goalRun) commented() bool {
	d := g.Docs[goalCommentsDoc]
	return d.Text != "" && d.Version > g.plan.Saw[goalCommentsDoc] && len(g.workers) == 0
}

// Approves implements Approver.
func (goal) Approves(v View) (document, comments string) {
	spec, err := ReadGoal(v.Spec)
	g := &goalRun{View: v, spec: spec}
	g.sort()
	if err != nil || !spec.Plan || v.WrapUp || g.lead != nil || g.verify != nil || g.plan == nil || g.plan.State != Done {
		return "", ""
	}
	if resumes, ok := g.storedPlan(); !ok || g.commented() || g.Resumes > resumes {
		return "", ""
	}
	return goalPlanDoc, goalCommentsDoc
}

// planFields are the fields of the text of the prompt that writes the plan.
type planFields struct {
	Key, Title, Body, Rules, Problem string
	Plan                             string // as it is now, fenced; empty if a person has not commented on it
	Comments                         string // of a person, marked
}

// nextPlanKey returns the key of the next step that writes the plan.
func (g *goalRun) nextPlanKey() string {
	for n := 2; ; n++ {
		if key := fmt.Sprintf("%s-%d", planKey, n); g.Step(key) == nil {
			return key
		}
	}
}

// writePlanStep creates a step that writes the plan.
func (g *goalRun) writePlanStep(key, problem string) (Plan, error) {
	rules, err := g.text("goal-rules", ruleFields{g.Key, g.Title, g.Body})
	if err != nil {
		return Plan{}, err
	}
	f := planFields{Key: g.Key, Title: g.Title, Body: g.Body, Rules: rules, Problem: problem}
	var saw []string
	if d := g.Docs[goalCommentsDoc]; d.Text != "" && g.Docs[goalPlanDoc].Version > 0 {
		f.Plan, f.Comments, saw = fence(g.Docs[goalPlanDoc].Text), marked(d.Text), []string{goalPlanDoc, goalCommentsDoc}
	}
	text, err := g.text("goal-plan", f)
	if err != nil {
		return Plan{}, err
	}
	step := g.answer(key, "Plan: ", text, g.spec.Lead, goalPlanSchema)
	step.Saw = saw
	return Plan{Steps: []NewStep{step}, Note: "the lead writes the plan"}, nil
}

// storePlan stores the plan that the newest step wrote. A plan that is not valid is
// written again once.
func (g *goalRun) storePlan() (Plan, error) {
	var a struct {
		Tasks []planTask `json:"tasks"`
	}
	problem := "it is not a JSON object with tasks"
	if json.Unmarshal(g.plan.Answer, &a) == nil {
		for n := range a.Tasks {
			t := &a.Tasks[n]
			t.Title, t.Description = coppice.FirstLine(t.Title), strings.TrimSpace(coppice.Printable(t.Description))
		}
		_, problem = checkPlan(a.Tasks)
	}
	var tasks []planTask
	if problem == "" {
		tasks, problem = parsePlan(writePlan(a.Tasks))
	}
	if problem != "" {
		tries := 0
		for _, s := range g.Steps {
			if isPlan(s.Key) && s.Saw[goalCommentsDoc] == g.plan.Saw[goalCommentsDoc] {
				tries++
			}
		}
		if tries < mostPlanTries {
			return g.writePlanStep(g.nextPlanKey(), problem)
		}
		return Plan{Block: &Block{
			Class: coppice.ClassImplementation, Text: "the plan of the lead is not valid: " + problem, Fix: fmt.Sprintf("write it again with `coppice flow resume %s --from %s`", g.Key, planKey),
		}}, nil
	}
	text := refreshPlan(writePlan(tasks), tasks, func(string) bool { return false })
	return Plan{Note: "the plan is written", Docs: []NewDoc{
		{Name: goalPlanDoc, Text: text, After: g.Docs[goalPlanDoc].Version, Step: g.plan.Key},
		{Name: goalStateDoc, Text: fmt.Sprintf("task: %s\nresumes: %d\n", g.plan.Task, g.Resumes), After: g.Docs[goalStateDoc].Version, Step: g.plan.Key},
	}}, nil
}

// workerDone reports whether a worker has done its task, as it says itself.
func workerDone(s *Step) bool {
	if s == nil || s.State != Done {
		return false
	}
	m, _ := ReadMark(s.Result, MarkWorker, MarkBlocked, MarkBroken)
	return m == "" || m == MarkWorker
}

// startPlanned starts the tasks of the plan whose dependencies are done, up to the
// limit. When all are done, the result is verified.
func (g *goalRun) startPlanned(p Plan, tasks []planTask) (Plan, error) {
	done := map[string]bool{}
	var failed *Step
	for _, t := range tasks {
		s := g.Step(plannedWorker + t.ID)
		done[t.ID] = workerDone(s)
		if s != nil && s.State != Open && !done[t.ID] && failed == nil {
			failed = s
		}
	}
	open, left := g.count(Open), 0
	for n, t := range tasks {
		if !done[t.ID] {
			left++
		}
		if g.Step(plannedWorker+t.ID) != nil || open >= g.spec.Workers || slices.ContainsFunc(t.After, func(id string) bool { return !done[id] }) {
			continue
		}
		step, err := g.worker(Spawn{
			Key: plannedWorker + t.ID, Perspective: Implementer, Agent: g.spec.Worker(n + 1), Task: strings.TrimSpace(t.Title + "\n\n" + t.Description), Scope: t.Scope,
		}, "")
		if err != nil {
			return Plan{}, err
		}
		open++
		p.Steps = append(p.Steps, step)
	}
	switch {
	case left == 0 && open == 0 && len(p.Docs) == 0: // the verifier gets the document with all tasks checked off
		return g.check("The workers have done all tasks of the plan.\n\n"+g.workerList(len(g.workers)), "")
	case open == 0 && failed != nil:
		next := g.stopped(failed, failed.Key)
		if m, text := ReadMark(failed.Result, MarkBlocked, MarkBroken); failed.State == Done {
			what := map[Mark]string{MarkBlocked: "is blocked", MarkBroken: "could not do its task"}[m]
			next.Block.Class, next.Block.Text = coppice.ClassImplementation, strings.TrimSuffix(failed.Key+" "+what+": "+coppice.FirstLine(text), ": ")
			next.Block.Fix = fmt.Sprintf("say what to do with `coppice continue %s \"…\"`, or land what is done with `coppice flow wrap-up %s`", failed.Task, g.Key)
		}
		next.Docs = p.Docs
		return next, nil
	}
	p.Note = fmt.Sprintf("%d of %s of the plan done", len(tasks)-left, plural(len(tasks), "task"))
	if o := planOverlaps(tasks); len(o) > 0 {
		p.Note += "; " + o[0]
		if len(o) > 1 {
			p.Note += fmt.Sprintf(" (and %d more overlaps)", len(o)-1)
		}
	}
	return p, nil
}
