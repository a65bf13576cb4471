package coppice

import "strings"

// The names of the landing methods.
const (
	LandQueue  = "queue"  // lands automatically when proven
	LandBranch = "branch" // waits on its branch until a person runs coppice land
	LandReview = "review" // waits until a person has reviewed it and runs coppice land
	LandPR     = "pr"     // opens a pull request, and lands when the forge has merged it
)

// LandingMethod says what follows a proven landing. It is one value of land.how.
type LandingMethod struct {
	Name  string // the value
	Stage Stage  // where the task waits for coppice land; empty if it does not wait
	Word  string // what people read as the status while it waits; empty if that is "needs you"
	Waits string // what people read while it waits; %s is the task's key
	Fix   string // what they can do then, if Waits does not say it; %s is the task's key
	Help  string // its help in the reference of coppice.yaml
	Forge bool   // the forge puts the work on the branch, and the branch here follows
}

// LandingMethods lists the landing methods, the default first. After waiting, a
// landing joins its queue.
var LandingMethods = []LandingMethod{
	{Name: LandQueue, Help: "lands automatically when proven"},
	{Name: LandBranch, Stage: StageHeld, Waits: "checks passed; to land it, run: coppice land %s", Help: "waits until a person runs coppice land"},
	{Name: LandReview, Stage: StageReview, Word: "in review", Waits: "waiting for your review", Fix: "read it with `coppice review %s`; then run `coppice land %s`, or send comments", Help: "waits until a person has reviewed it and runs coppice land"},
	{Name: LandPR, Stage: StagePull, Word: "in review", Waits: "waiting for its pull request", Fix: "read it on the forge, or with `coppice review %s`; to merge it, run `coppice land %s`", Help: "opens a pull request; lands when the forge has merged it", Forge: true},
}

// Method returns the landing method that a policy names.
func (p LandPolicy) Method() LandingMethod {
	for _, m := range LandingMethods {
		if m.Name == p.How {
			return m
		}
	}
	return LandingMethods[0]
}

// Method returns the landing method of a task.
func (p Policy) Method(t Task) LandingMethod {
	land := p.Land
	if t.Land != "" {
		land.How = t.Land
	}
	return land.Method()
}

// method returns the landing method whose tasks wait for coppice land at the
// stage. It is zero for every other stage.
func (s Stage) method() LandingMethod {
	for _, m := range LandingMethods {
		if m.Stage == s && s != "" {
			return m
		}
	}
	return LandingMethod{}
}

// Awaits reports whether a proven task waits at the stage until a person runs
// coppice land.
func (s Stage) Awaits() bool { return s.method().Stage != "" }

// Word returns what people read as the status of a task at the stage, if that is
// more exact than the status: in review. Otherwise it is empty.
func (s Stage) Word() string { return s.method().Word }

// awaits returns what people read about a task that waits at its stage for
// coppice land: what its landing says, or else what all such tasks say.
func (t Task) awaits(land *Landing) string {
	if t.Stage == StagePull && t.Attention != "" {
		return t.Attention
	}
	if land != nil && land.EndedAt.IsZero() && land.Waits != "" {
		return land.Waits
	}
	return withKey(t.Stage.method().Waits, t.Key)
}

// AwaitsFix returns what a person can do about a task that waits for coppice
// land.
func (t Task) AwaitsFix() string { return withKey(t.Stage.method().Fix, t.Key) }

// withKey writes a task's key into a text that might not have a place for it.
func withKey(text, key string) string { return strings.ReplaceAll(text, "%s", key) }

// Lands reports whether the task has a landing at the stage: one that is being
// proven, waits for a person, or is queued.
func (s Stage) Lands() bool { return s == StageChecking || s == StageLanding || s.Awaits() }

// StagesThat lists the stages that match, in the order of Stages.
func StagesThat(match func(Stage) bool) []Stage {
	var list []Stage
	for _, s := range Stages {
		if match(s) {
			list = append(list, s)
		}
	}
	return list
}
