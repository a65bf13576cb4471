package forge

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
)

// Webhook is what the body of a webhook says.
type Webhook struct {
	Repo string            // the full name of the repository
	At   time.Time         // when the event happened; zero if the body does not say
	Hint coppice.ForgeHint // what to read
}

// ParseWebhook reads the body of a webhook, whose form is the same for all events of a
// kind of forge. An event that it does not know has an empty hint.
func ParseWebhook(kind string, body []byte) (Webhook, error) {
	parse := parseHub
	if kind == "gitlab" {
		parse = parseLab
	}
	w, err := parse(body)
	var other *json.UnmarshalTypeError // a field of an unknown event; all others are read
	if err != nil && !errors.As(err, &other) {
		return Webhook{}, coppice.Errorf(coppice.EInvalid, "the body is not the JSON of a webhook").
			WithFix("set the content type of the webhook to application/json")
	}
	if w.Repo == "" {
		return Webhook{}, coppice.Errorf(coppice.EInvalid, "the body names no repository").WithFix("add the webhook to the repository")
	}
	h := &w.Hint
	if h.Number = max(h.Number, 0); coppice.ValidHash(h.Commit) != nil {
		h.Commit = ""
	}
	if len(h.Branch) > maxName {
		h.Branch = ""
	}
	return w, nil
}

var requestRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs/merge-requests/([0-9]{1,9})/`) })

// hubBody has the fields of all events of GitHub, Gitea and Forgejo that say what to
// read.
type hubBody struct {
	Zen        string // of a ping
	Number     int    // of a pull request
	Ref        string // of a push
	RefType    string `json:"ref_type"` // of a new or deleted branch or tag
	SHA        string // of a commit status
	Updated    stamp  `json:"updated_at"` // of a commit status
	Repository struct {
		Name string `json:"full_name"`
	}
	Request  *hubThing `json:"pull_request"`
	Issue    *hubThing
	Comment  *hubThing
	Review   *hubThing
	CheckRun *hubThing `json:"check_run"`
	Suite    *hubThing `json:"check_suite"`
	Workflow *hubThing `json:"workflow_run"`
	Job      *hubThing `json:"workflow_job"`
	Run      *hubThing // of Forgejo Actions
	Thread   *struct{} // that was resolved, which changes no time
}

// hubThing is a thing that an event is about.
type hubThing struct {
	Number    int
	Request   *struct{} `json:"pull_request"` // an issue that is a pull request has it
	Head      string    `json:"head_sha"`
	Commit    string    `json:"commit_sha"`
	Updated   stamp     `json:"updated_at"`
	Submitted stamp     `json:"submitted_at"`
	Completed stamp     `json:"completed_at"`
	Started   stamp     `json:"started_at"`
}

func parseHub(body []byte) (Webhook, error) {
	var b hubBody
	err := json.Unmarshal(body, &b)
	w := Webhook{Repo: b.Repository.Name, At: newest(b.Updated), Hint: refHint(b.Ref)}
	for _, t := range []*hubThing{b.Request, b.Issue, b.Comment, b.Review, b.CheckRun, b.Suite, b.Workflow, b.Job, b.Run} {
		if t == nil {
			continue
		}
		w.At = newest(stamp{w.At}, t.Updated, t.Submitted, t.Completed, t.Started)
		if t.Head+t.Commit != "" {
			w.Hint = coppice.ForgeHint{Commit: t.Head + t.Commit}
		}
	}
	if b.Thread != nil {
		w.At = time.Time{}
	}
	switch {
	case b.Zen != "", b.RefType != "": // a push follows the creation of a branch
		w.Hint = coppice.ForgeHint{None: true}
	case b.Request != nil:
		w.Hint = coppice.ForgeHint{Number: max(b.Request.Number, b.Number)}
	case b.Issue != nil:
		w.Hint = coppice.ForgeHint{Number: b.Issue.Number, None: b.Issue.Request == nil}
	case b.Number != 0:
		w.Hint = coppice.ForgeHint{Number: b.Number}
	case b.SHA != "":
		w.Hint = coppice.ForgeHint{Commit: b.SHA}
	}
	return w, err
}

// labBody has the fields of all events of GitLab that say what to read.
type labBody struct {
	Kind    string `json:"object_kind"`
	Ref     string
	SHA     string // of a job
	Project struct {
		Path string `json:"path_with_namespace"`
	}
	Object struct {
		Number   int `json:"iid"`
		SHA      string
		Updated  stamp `json:"updated_at"`
		Finished stamp `json:"finished_at"`
		Created  stamp `json:"created_at"`
	} `json:"object_attributes"`
	Request struct {
		Number int `json:"iid"`
	} `json:"merge_request"`
}

func parseLab(body []byte) (Webhook, error) {
	var b labBody
	err := json.Unmarshal(body, &b)
	w := Webhook{Repo: b.Project.Path, At: newest(b.Object.Updated, b.Object.Finished, b.Object.Created)}
	switch {
	case b.Kind == "merge_request":
		w.Hint.Number = b.Object.Number
	case b.Request.Number != 0:
		w.Hint.Number = b.Request.Number
	case b.Kind == "pipeline":
		w.Hint.Commit = b.Object.SHA
	case b.Kind == "build":
		if w.Hint.Commit = b.SHA; requestRE().MatchString(b.Ref) {
			number, _ := strconv.Atoi(requestRE().FindStringSubmatch(b.Ref)[1]) // digits by the pattern
			w.Hint = coppice.ForgeHint{Number: number}
		}
	case b.Kind == "push":
		w.Hint = refHint(b.Ref)
	default: // all other events, such as those of issues
		w.Hint.None = true
	}
	return w, err
}

// refHint returns the hint of a push. Tags have no pull requests.
func refHint(ref string) coppice.ForgeHint {
	branch, found := strings.CutPrefix(ref, "refs/heads/")
	if !found {
		return coppice.ForgeHint{None: strings.HasPrefix(ref, "refs/tags/")}
	}
	return coppice.ForgeHint{Branch: branch}
}

// stamp is a time in any form that a forge writes. Text of another form gives none.
type stamp struct{ time.Time }

var stampForms = []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"}

// UnmarshalJSON implements json.Unmarshaler.
func (s *stamp) UnmarshalJSON(b []byte) error {
	text, err := strconv.Unquote(string(b))
	if err != nil {
		return nil //nolint:nilerr // it is not a text
	}
	for _, form := range stampForms {
		if t, err := time.Parse(form, text); err == nil && t.Year() > 1970 { // Gitea writes 1970 if it has no time
			s.Time = t
			return nil
		}
	}
	return nil
}

// newest returns the last of the times.
func newest(times ...stamp) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t.Time
		}
	}
	return last
}
