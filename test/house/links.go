package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	linkRE    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingRE = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fencedRE  = regexp.MustCompile("(?s)```.*?```")
	punctRE   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links checks that every link from one of our texts to another leads to a file
// and a heading of the repository.
func (t *Tree) Links() ([]Breach, error) {
	var bad []Breach
	for _, file := range t.Files {
		if !matches(file, checkedTexts) {
			continue
		}
		text, err := t.read(file)
		if err != nil {
			return nil, err
		}
		text = blank(text, fencedRE)
		for _, at := range linkRE.FindAllStringSubmatchIndex(text, -1) {
			link := text[at[2]:at[3]]
			if strings.Contains(link, "://") {
				continue
			}
			if why, err := t.broken(file, link); err != nil {
				return nil, err
			} else if why != "" {
				bad = append(bad, Breach{file, 1 + strings.Count(text[:at[0]], "\n"), "the link " + link + " leads nowhere: " + why})
			}
		}
	}
	return bad, nil
}

// broken says why a link in a file leads nowhere, "" if it leads somewhere.
func (t *Tree) broken(file, link string) (string, error) {
	to, heading, _ := strings.Cut(link, "#")
	name := file
	if to != "" {
		name = path.Join(path.Dir(file), to)
	}
	if !slices.Contains(t.Files, name) {
		return "there is no file " + name, nil
	}
	if heading == "" {
		return "", nil
	}
	text, err := t.read(name)
	if err != nil {
		return "", err
	}
	for _, h := range headingRE.FindAllStringSubmatch(blank(text, fencedRE), -1) {
		if anchor(h[1]) == heading {
			return "", nil
		}
	}
	return name + " has no such heading", nil
}

// anchor is the name of a heading in a link, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(punctRE.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-")
}
