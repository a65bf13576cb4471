package codex

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// colours are the escape sequences in the agent's log.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

var unknownThread = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no (rollout|thread|conversation|session) found|(thread|session).{0,60}not found|invalid (session|thread) id`)
})

func errorText(e *jsonrpc.Error) string {
	if t := strings.TrimSpace(e.Message); t != "" {
		return agent.Text(t)
	}
	return "the agent answered with error " + strconv.Itoa(e.Code)
}

func errorFailure(e *jsonrpc.Error) *coppice.Failure {
	text := errorText(e)
	class := agent.TextClass(agent.WithoutAddresses(text))
	var data struct {
		Input string `json:"input_error_code"`
	}
	_ = json.Unmarshal(e.Data, &data) // few errors have it
	switch {
	case data.Input == "input_too_large":
		class = coppice.ClassContext
	case unknownThread().MatchString(text):
		return agent.Gone(text)
	case class == coppice.ClassUnknown && e.Code == jsonrpc.CodeNoMethod:
		class = coppice.ClassCapability
	}
	return agent.Fail(class, text)
}

// turnError says why a turn, or one attempt of it, failed.
type turnError struct {
	Message string          `json:"message"`
	Details string          `json:"additionalDetails"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a word, or an object of one field
}

func (e *turnError) text() string {
	text := strings.TrimSpace(e.Message)
	var service struct { // some errors are passed on unchanged
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text), &service) == nil && service.Error.Message != "" {
		text = service.Error.Message
	}
	if d := strings.TrimSpace(e.Details); d != "" {
		text += ": " + d
	}
	if text == "" {
		return "the agent's turn failed without a reason"
	}
	return agent.Text(text)
}

// infos maps the agent's words for failures to classes.
var infos = map[string]coppice.Class{
	"contextWindowExceeded":       coppice.ClassContext,
	"sessionBudgetExceeded":       coppice.ClassBudget,
	"usageLimitExceeded":          coppice.ClassRateLimit,
	"rateLimitExceeded":           coppice.ClassRateLimit,
	"flexUnavailable":             coppice.ClassOverload,
	"serverOverloaded":            coppice.ClassOverload,
	"internalServerError":         coppice.ClassOverload,
	"policyCapacityUnavailable":   coppice.ClassOverload,
	"modelNotFound":               coppice.ClassCapability,
	"unauthorized":                coppice.ClassAuth,
	"sandboxError":                coppice.ClassEnvironment,
	"cyberPolicy":                 coppice.ClassImplementation,
	"misalignmentPolicyViolation": coppice.ClassImplementation,
	"tooManyDenials":              coppice.ClassImplementation,
}

// class classifies the error by its word, its HTTP status or its text.
func (e *turnError) class() coppice.Class {
	var word string
	var status map[string]struct {
		HTTP int `json:"httpStatusCode"`
	}
	if json.Unmarshal(e.Info, &word) == nil {
		if c, ok := infos[word]; ok {
			return c
		}
	} else if json.Unmarshal(e.Info, &status) == nil {
		for _, s := range status {
			if c := agent.StatusClass(s.HTTP); c != "" {
				return c
			}
		}
	}
	return agent.TextClass(agent.WithoutAddresses(e.text()))
}

// judge makes the failure of a turn. An error that cannot be read is a failure
// too.
func (d *driver) judge(raw json.RawMessage) *coppice.Failure {
	var e turnError
	if json.Unmarshal(raw, &e) != nil {
		e = turnError{Message: string(raw)}
	}
	f := agent.Fail(e.class(), e.text())
	if f.Class == coppice.ClassRateLimit {
		f.RetryAt = d.limit.until
	}
	return f
}

// errorNews reports an error. An error that is not retried also ends the turn.
func (d *driver) errorNews(p jsonrpc.Message) {
	var n struct {
		Thread string    `json:"threadId"`
		Error  turnError `json:"error"`
	}
	if json.Unmarshal(p.Params, &n) != nil {
		return
	}
	text := n.Error.text()
	if n.Thread == d.conversation {
		d.reported = text
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: n.Error.class(), Text: text})
}

// serverNews reports a tool server that did not start. The agent continues
// without it.
func (d *driver) serverNews(p jsonrpc.Message) {
	var n struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(p.Params, &n) != nil || n.Status != "failed" {
		return
	}
	text := "the tool server " + agent.Clip(n.Name) + " did not start"
	if n.Error != "" {
		text += ": " + n.Error
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassMCP, Text: agent.Text(text)})
}
