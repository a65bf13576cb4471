package flow

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"coppice"
)

// promptUse says what a prompt is for, and what its text can use.
type promptUse struct {
	about string // completes "its sessions …"
	data  any    // the zero value of what the text is written from
}

// promptUses has the use of each prompt.
var promptUses = sync.OnceValue(func() map[string]promptUse {
	uses := map[string]promptUse{
		"cycle-assess":    {"write the plan of a cycle", cycleFields{}},
		"cycle-implement": {"implement milestones of a cycle, or fix what its verification found", cycleFields{}},
		"cycle-repair":    {"answer again after an answer that cannot be used, in a cycle", repairFields{}},
		"cycle-review":    {"review the work of a cycle, and check milestones off", cycleFields{}},
		"cycle-verify":    {"try the result of a cycle", cycleFields{}},
		"debate-action":   {"do what follows a debate", debateText{}},
		"debate-open":     {"answer the question of a debate alone", debateText{}},
		"debate-reply":    {"reply to the other side of a debate", debateText{}},
		"debate-respond":  {"fix what the other side of a debate found", debateText{}},
		"debate-then":     {"do the task that follows a debate", debateText{}},
		"debate-verify":   {"verify what the other side of a debate has done", debateText{}},
		"goal-lead":       {"lead the work on a goal", leadFields{}},
		"goal-plan":       {"write the plan of a goal", planFields{}},
		"goal-rules":      {"get this text as the project's rules for leads, in the prompts that lead or plan a goal", ruleFields{}},
		"goal-verify":     {"verify the merged work on a goal", verifyFields{}},
	}
	for _, p := range Perspectives {
		uses["perspective-"+p.Name] = promptUse{"work for the lead of a goal: the " + p.Name + " " + p.About, workerFields{}}
	}
	return uses
})

// PromptAbout says what the sessions do that a prompt is for.
func PromptAbout(name string) string {
	return promptUses()[strings.TrimPrefix(name, promptPrefix)].about
}

// PromptFields lists the fields that the text of a prompt can use.
func PromptFields(name string) (fields []string) {
	use, ok := promptUses()[strings.TrimPrefix(name, promptPrefix)]
	if !ok {
		return nil
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(use.data)) {
		if slices.Contains(sampled, f.Type.Kind()) {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// CheckPrompt says what is wrong with a project's own text of a prompt. It writes the
// text with all fields, and with only those that are never empty.
func CheckPrompt(name, text string) error {
	short := strings.TrimPrefix(name, promptPrefix)
	use, ok := promptUses()[short]
	if !ok || short == name {
		return coppice.Errorf(coppice.EInvalid, "there is no prompt %s", coppice.Quote(name)).WithFix("use %s", strings.Join(PromptNames(), ", "))
	}
	full, bare := reflect.New(reflect.TypeOf(use.data)).Elem(), reflect.New(reflect.TypeOf(use.data)).Elem()
	sample(full)
	for _, field := range []string{"Key", "Title", "Task", "Question"} {
		if f := bare.FieldByName(field); f.IsValid() {
			sample(f)
		}
	}
	for _, data := range []any{full.Interface(), bare.Interface()} {
		if _, err := (View{Prompts: map[string]string{name: text}}).text(short, data); err != nil {
			return coppice.Public(err).WithFix("fix it, or remove the file; fields are %s", strings.Join(PromptFields(name), ", "))
		}
	}
	return nil
}

// sampled are the kinds of fields that a text can use.
var sampled = []reflect.Kind{reflect.String, reflect.Int, reflect.Bool, reflect.Slice}

// sample fills in every field.
func sample(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Field(n).CanSet() {
				sample(v.Field(n))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		sample(v.Index(0))
	case reflect.String:
		v.SetString("a text")
	case reflect.Int:
		v.SetInt(2)
	case reflect.Bool:
		v.SetBool(true)
	}
}
