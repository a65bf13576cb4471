package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"

	"coppice"
	"coppice/api"
	"coppice/features"
)

// Features reads and edits projects' features files for the API. The follower of
// checkouts notices the edits.
type Features struct {
	Warnings func(project int64) []string       // why a file, or a part of it, is not in effect
	Last     func(project int64) *features.List // the last valid list, which is in effect; nil if none was read

	mu sync.Mutex // one edit at a time
}

func revision(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// List returns the features of a project without their tasks. If the file cannot
// be read, they are those of its last valid text.
func (s *Features) List(_ context.Context, p coppice.Project) (api.FeatureList, error) {
	out := api.FeatureList{Project: p.Prefix, File: p.Policy.Features, Features: []api.Feature{}, Problems: []api.FileProblem{}}
	if out.File == "" {
		return out, nil
	}
	out.Path = filepath.Join(p.Path, filepath.FromSlash(out.File))
	l, text, err := readFeatures(p)
	if text != nil {
		out.Revision = revision(text)
	}
	said := map[string]bool{}
	add := func(f api.FileProblem) {
		if !said[f.Text] {
			said[f.Text] = true
			out.Problems = append(out.Problems, f)
		}
	}
	if err != nil {
		add(fileProblem(err))
		l = s.last(p)
		out.Outdated = l != nil
	}
	if l != nil {
		for _, f := range l.Features {
			one := api.Feature{
				ID: f.ID, Category: f.Category, Name: f.Name, Description: f.Description, Steps: f.Steps, Status: string(f.Status),
				Reason: f.Reason, Failure: f.Failure, Progress: f.Progress, FeatureTask: f.FeatureTask,
				Track: p.Policy.TrackFor(f.Category),
			}
			if !out.Outdated {
				one.Line = l.Line(f.ID)
			}
			out.Features = append(out.Features, one)
		}
	}
	if s.Warnings != nil {
		for _, w := range s.Warnings(p.ID) {
			add(api.FileProblem{Text: w})
		}
	}
	return out, nil
}

// last returns the last valid list of a project's current features file, or nil.
func (s *Features) last(p coppice.Project) *features.List {
	if s.Last == nil {
		return nil
	}
	if l := s.Last(p.ID); l != nil && l.Name == p.Policy.Features {
		return l
	}
	return nil
}

func readFeatures(p coppice.Project) (*features.List, []byte, error) {
	text, err := featuresFile(p).Read()
	if err != nil {
		return nil, nil, err
	}
	l, err := features.Parse(p.Policy.Features, text)
	return l, text, err
}

func featuresFile(p coppice.Project) features.File {
	return features.File{Root: p.Path, Name: p.Policy.Features}
}

func fileProblem(err error) api.FileProblem {
	out := api.FileProblem{Text: coppice.Public(err).Error()}
	var at *features.At
	if errors.As(err, &at) {
		out.Line, out.Column = at.Line, at.Column
	}
	return out
}

// Change sets fields of a feature, or adds one if id is empty. It returns the id
// of the feature. If somebody else has changed the file since the revision, it
// changes nothing.
func (s *Features) Change(_ context.Context, p coppice.Project, id string, c api.FeatureChange, since string) (string, error) {
	if p.Policy.Features == "" {
		return "", coppice.Errorf(coppice.ENotFound, "%s has no features file", p.Prefix).WithFix("name one in coppice.yaml with the key features")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, text, err := readFeatures(p)
	if err != nil {
		return "", err
	}
	if since != "" && since != revision(text) {
		return "", changedFeatures(p)
	}
	var fields features.Fields
	if err := json.Unmarshal(coppice.Raw(c), &fields); err != nil {
		return "", err
	}
	var next []byte
	if id == "" {
		next, id, err = l.Add(fields)
	} else {
		next, err = l.Set(id, fields)
	}
	if err != nil {
		return "", err
	}
	err = featuresFile(p).Write(text, next)
	if errors.Is(err, features.ErrChanged) {
		err = changedFeatures(p)
	}
	return id, err
}

func changedFeatures(p coppice.Project) error {
	return coppice.Errorf(coppice.EConflict, "%s has changed since you read it", p.Policy.Features).WithFix("check it, then save again")
}
