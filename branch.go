package coppice

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// branchDir is the directory of the branches that are named after their tasks.
const branchDir = "coppice"

// The placeholders of a template for the names of branches.
const (
	branchKey   = "{key}"
	branchWords = "{words}"
)

// Limits on the names of branches.
const (
	maxTemplate = 100 // bytes of a template
	maxWords    = 40  // bytes of the words of a title
)

var wordRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[a-z0-9]+`) })

// TaskBranch returns the branch of a task for which no name was chosen. A valid
// key makes it safe.
func TaskBranch(key string) string { return fmt.Sprintf("%s/%s", branchDir, key) }

// BranchName returns the branch of the task.
func (t Task) BranchName() string { return cmp.Or(t.Branch, TaskBranch(t.Key)) }

// ValidTaskBranch checks the name that a person chose for the branch of a task.
func ValidTaskBranch(s string) error {
	if err := ValidBranch(s); err != nil {
		return Public(err).WithField("branch")
	}
	if BranchesConflict(s, branchDir) {
		return Errorf(EInvalid, "%s is not a valid name for a task's branch: branches below %s/ are named after their tasks", Quote(s), branchDir).
			WithFix("choose another name, such as feature/login, or leave it out").WithField("branch")
	}
	return nil
}

// BranchesConflict reports whether a repository cannot have both branches: they
// have the same name, or one would be in a directory with the name of the other.
func BranchesConflict(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// BranchParents returns the directories of a branch: a and a/b for a/b/c.
func BranchParents(name string) (parents []string) {
	for i, c := range name {
		if c == '/' {
			parents = append(parents, name[:i])
		}
	}
	return parents
}

// ValidBranchTemplate checks a template for the names of branches.
func ValidBranchTemplate(s string) error {
	fix := "use " + branchKey + " for the key of the task and " + branchWords + " for the words of its title, as in feature/" + branchKey + "-" + branchWords
	switch {
	case len(s) > maxTemplate:
		return Errorf(EInvalid, "the template has %d bytes, %d are allowed", len(s), maxTemplate)
	case !strings.Contains(s, branchKey):
		return Errorf(EInvalid, "%s does not have %s, so several tasks could have the same branch", Quote(s), branchKey).WithFix("%s", fix)
	}
	if err := ValidTaskBranch(BranchFrom(s, Task{Key: "app-1", Title: "Two words"})); err != nil {
		return Errorf(EInvalid, "%s is not a valid template for branch names: %s", Quote(s), Public(err).Cause).WithFix("%s", fix)
	}
	return nil
}

// BranchFrom returns the name that a template gives to a task's branch.
func BranchFrom(template string, t Task) string {
	return strings.NewReplacer(branchKey, t.Key, branchWords, titleWords(t.Title)).Replace(template)
}

// titleWords returns the first words of a title, as a part of a branch's name.
func titleWords(title string) string {
	words := ""
	for _, w := range wordRE().FindAllString(strings.ToLower(title), -1) {
		next := strings.TrimPrefix(words+"-"+w, "-")
		if len(next) > maxWords {
			break
		}
		words = next
	}
	return cmp.Or(words, "task")
}
