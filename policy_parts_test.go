package coppice

import (
	"reflect"
	"slices"
	"testing"
)

// Every field of a policy is either a deciding part or listed here as one that
// takes effect immediately. The author of a new field has to choose.
func TestEveryPartOfAPolicyIsChosen(t *testing.T) {
	t.Parallel()
	atOnce := []string{"Tracks", "Limits", "Agent", "Retry", "Health", "Trash", "Features", "Progress", "Budget", "Prices", "Goal", "Problems"}
	var p Policy
	deciding := map[uintptr]string{}
	for _, part := range DecidingParts {
		deciding[reflect.ValueOf(part.Of(&p)).Pointer()] = part.Name
	}
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if got := deciding[v.Field(i).Addr().Pointer()] != ""; got == slices.Contains(atOnce, name) {
			t.Errorf("%s: deciding is %v", name, got)
		}
	}
	if len(deciding)+len(atOnce) != v.NumField() {
		t.Errorf("%d deciding parts and %d others make %d fields", len(deciding), len(atOnce), v.NumField())
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	a := DefaultPolicy()
	a.Checks, a.Prompts = []string{"make"}, map[string]string{"fix": "Fix it"}
	b := DefaultPolicy()
	b.Land.How, b.Limits.Sessions = LandBranch, 2
	held, differ := a.Hold(b)
	if !slices.Equal(differ, []string{"checks", "land", "prompts"}) {
		t.Errorf("they differ in %q", differ)
	}
	if held.Limits.Sessions != 2 || held.Land.How != LandQueue || !slices.Equal(held.Checks, a.Checks) || held.Prompts["fix"] != "Fix it" {
		t.Errorf("held is %+v", held)
	}
	b.Prompts, held.Prompts = map[string]string{}, nil
	if _, differ := held.Hold(b); slices.Contains(differ, "prompts") {
		t.Error("no prompts differ from none")
	}
	held.Prompts = a.Prompts
	if b.Land.How != LandBranch || len(b.Checks) != 0 {
		t.Error("the found policy was changed")
	}
	if again, differ := a.Hold(held); len(differ) != 0 || !reflect.DeepEqual(again, held) {
		t.Errorf("held again, it differs in %q", differ)
	}
}
