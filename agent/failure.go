package agent

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"coppice"
)

// StatusClass classifies an HTTP status of a model's service. It returns "" for
// a status that is not specific.
func StatusClass(status int) coppice.Class {
	switch {
	case status == 401 || status == 403:
		return coppice.ClassAuth
	case status == 402:
		return coppice.ClassBilling
	case status == 404:
		return coppice.ClassCapability
	case status == 413:
		return coppice.ClassContext
	case status == 429:
		return coppice.ClassRateLimit
	case status >= 500:
		return coppice.ClassOverload
	}
	return ""
}

type pattern struct {
	class coppice.Class
	re    *regexp.Regexp
}

// patterns classify the messages of agents that fail. The first that matches
// counts, so the narrow ones come first. They are compiled on first use: that
// takes longer than everything else that a host does before its agent runs.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{coppice.ClassBudget, regexp.MustCompile(`(?i)reached (the )?max(imum)? budget`)},
		{coppice.ClassImplementation, regexp.MustCompile(`(?i)reached (the )?max(imum)?( number of| session)? turns`)},
		{coppice.ClassContext, regexp.MustCompile(`(?i)prompt is too long|context (window|length)|maximum context|context_length_exceeded|context.?(exceeds|overflow)|exceeds the maximum number of tokens`)},
		// One vendor uses the same words for a temporary limit as another for
		// an account without money. The status and the name distinguish them.
		{coppice.ClassRateLimit, regexp.MustCompile(`RESOURCE_EXHAUSTED|(?i:daily quota|suggested retry after)`)},
		{coppice.ClassBilling, regexp.MustCompile(`(?i)credit balance|insufficient_quota|billing|payment required|exceeded your current quota|purchase more credits`)},
		{coppice.ClassRateLimit, regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|usage limit|hit your (session|weekly|usage)? ?limit|exceeded retry limit`)},
		{coppice.ClassAuth, regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|not logged in|invalid (api|x-api)[ -]key|authentication|please (run /login|log in)|missing environment variable|\bauth type\b|` +
			`provider.?auth|api key not valid|incorrect api key|(provide an|missing) api key|unregistered callers|permission[ _]denied|does not have (access|permission)|` +
			`(country|region|territory).{0,20}not supported`)},
		{coppice.ClassOverload, regexp.MustCompile(`(?i)\b5\d\d\b|overloaded|high demand|server (had an )?error|service unavailable|bad gateway|stream (closed|disconnected)|temporarily|premature close|socket hang up|other side closed|(^|error: )terminated\]?$`)},
		{coppice.ClassDisk, regexp.MustCompile(`(?i)no space left on device|disk quota exceeded|read-only file system`)},
		{coppice.ClassEnvironment, regexp.MustCompile(`(?i)connection (refused|reset|error)|unable to connect|dns|network is unreachable|error sending request|certificate`)},
		{coppice.ClassCapability, regexp.MustCompile(`(?i)model.{0,40}(not (found|supported|exist)|does not exist)|unknown (option|argument)|unexpected argument`)},
	}
})

// framesRE matches a line of a stack trace, or one that is quoted within a
// line. Its numbers are not statuses.
var framesRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|\\n)\s+at [^\n\\]*`) })

// TextClass classifies a failure by its text, for agents that report nothing
// else.
func TextClass(text string) coppice.Class {
	text = framesRE().ReplaceAllString(text, "")
	for _, p := range patterns() {
		if p.re.MatchString(text) {
			return p.class
		}
	}
	return coppice.ClassUnknown
}

// fixes are the fixes that apply to every agent.
var fixes = map[coppice.Class]string{
	coppice.ClassAuth:        "log the agent in, or set its API key in the environment of `coppice serve`",
	coppice.ClassBudget:      "raise the task's budget, or split the task",
	coppice.ClassBilling:     "add credit to the agent's account, or raise its budget",
	coppice.ClassContext:     "split the task, or shorten its description",
	coppice.ClassEnvironment: "check that this machine can reach the model's service",
	coppice.ClassCapability:  "install a version of the agent that knows the requested model and options",
	coppice.ClassDisk:        "free some disk space",
}

// Fail makes a failure of a class with its fix.
func Fail(class coppice.Class, text string) *coppice.Failure {
	return coppice.Failf(class, strings.TrimSpace(text), fixes[class])
}

// Died returns the failure of a process that ended before its protocol reported
// the outcome. stderr is the end of what it wrote to stderr. stopped says that
// it was asked to end.
func Died(x Exit, stderr string, stopped bool) *coppice.Failure {
	switch {
	case stopped:
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	case x.Signal == "SIGKILL":
		return coppice.Failf(coppice.ClassLost, "the agent was killed (SIGKILL), as happens when memory runs out",
			"give the machine more memory, or lower limits.sessions, if this happens again")
	case x.Signal != "":
		return coppice.Failf(coppice.ClassLost, fmt.Sprintf("the agent was ended by %s before it was done", x.Signal), "")
	case x.Code == 126 || x.Code == 127:
		return Fail(coppice.ClassCapability, withTail(fmt.Sprintf("the agent's program could not be run (exit %d)", x.Code), stderr))
	case x.Code > 128 && x.Code < 128+65:
		// Shells, and some agents, report a signal in this way.
		return coppice.Failf(coppice.ClassLost, withTail(fmt.Sprintf("the agent was ended by signal %d before it was done", x.Code-128), stderr), "")
	}
	class := TextClass(stderr)
	return Fail(class, withTail(fmt.Sprintf("the agent ended with exit %d and reported no outcome", x.Code), stderr))
}

func withTail(text, stderr string) string {
	if stderr == "" {
		return text
	}
	return text + ": " + stderr
}
