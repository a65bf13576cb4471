package coppice

// The names of the landing methods.
const (
	LandQueue  = "queue"  // lands by itself once proven
	LandBranch = "branch" // waits on its branch until a person says land
	LandReview = "review" // waits until a person has reviewed it and says land
)

// LandingMethod is what follows a landing that is proven: one value of land.how.
type LandingMethod struct {
	Name  string // the value
	Stage Stage  // where the task waits until a person says land; empty when it does not wait
	Waits string // what people read while it waits
	Help  string // what the reference of coppice.yaml says behind the name
}

// LandingMethods lists the landing methods, the default first. However a method
// waits, the landing then joins its queue.
var LandingMethods = []LandingMethod{
	{Name: LandQueue, Help: "lands by itself once proven"},
	{Name: LandBranch, Stage: StageHeld, Waits: "its checks passed; say land to land it", Help: "waits until a person says land"},
	{Name: LandReview, Stage: StageReview, Waits: "its checks passed; review it and say land", Help: "waits until a person has reviewed it and says land"},
}

// Method is the landing method that a policy names.
func (p LandPolicy) Method() LandingMethod {
	for _, m := range LandingMethods {
		if m.Name == p.How {
			return m
		}
	}
	return LandingMethods[0]
}

// awaits is what people read about a task at a stage where it waits until a
// person says land; empty for every other stage.
func (s Stage) awaits() string {
	for _, m := range LandingMethods {
		if m.Stage == s {
			return m.Waits
		}
	}
	return ""
}

// Awaits reports whether a proven task waits at the stage until a person says
// land.
func (s Stage) Awaits() bool { return s.awaits() != "" }

// Lands reports whether the task has a landing on its way at the stage: one that
// is being proven, waits for a person, or is queued.
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
