package house

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// styleGuide has the table of words that texts do not use.
const styleGuide = "docs/style.md"

// checkedTexts are the texts whose words are checked, as patterns of path.Match.
var checkedTexts = []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md"}

// uncheckedFiles are generated from words in the code, are recordings of other
// programs, or have the banned words as data.
var uncheckedFiles = []string{
	"docs/configuration.md", "*/testdata/*", "test/house/*", "store/sqlite/dbsqlc/*", "store/sqlite/migrations/*", "web/src/api/schema.ts", "web/src/api/verbs.ts",
}

// bannedWord is a row of the table in the style guide.
type bannedWord struct {
	plain   string // in lower case
	phrase  *regexp.Regexp
	write   string
	allowed []*regexp.Regexp // phrases that have it as a part
}

// Words checks texts for the words that the style guide's table bans.
func (t *Tree) Words() ([]Breach, error) {
	guide, err := t.read(styleGuide)
	if err != nil {
		return nil, err
	}
	banned, err := bannedWords(guide)
	if err != nil {
		return nil, err
	}
	var bad []Breach
	for _, file := range t.Files {
		read := proseOf(file)
		if read == nil {
			continue
		}
		text, err := t.read(file)
		if err != nil {
			return nil, err
		}
		bad = append(bad, wordsIn(file, read(text), banned)...)
	}
	return bad, nil
}

// proseOf returns the function that finds the words in a checked file, and nil
// for other files.
func proseOf(file string) func(text string) string {
	switch {
	case matches(file, uncheckedFiles) || strings.Contains(file, "/testdata/"):
		return nil
	case matches(file, checkedTexts):
		return prose
	case slices.Contains(codeSuffixes, path.Ext(file)):
		return codeWords
	}
	return nil
}

var codeSuffixes = []string{".go", ".ts", ".tsx", ".css", ".html", ".sql", ".sh", ".yaml"}

func matches(file string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, file); return ok })
}

var quotedRE = regexp.MustCompile("`([^`]+)`")

// bannedWords reads the table below the heading "Words".
func bannedWords(guide string) ([]bannedWord, error) {
	_, table, _ := strings.Cut(guide, "\n## Words\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var all []bannedWord
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		var allowed []*regexp.Regexp
		for _, q := range quotedRE.FindAllStringSubmatch(cells[3], -1) {
			allowed = append(allowed, phraseRE(q[1]))
		}
		for _, q := range quotedRE.FindAllStringSubmatch(cells[1], -1) {
			all = append(all, bannedWord{strings.ToLower(q[1]), phraseRE(q[1]), strings.TrimSpace(cells[2]), allowed})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no table of words below the heading Words", styleGuide)
	}
	return all, nil
}

// phraseRE matches whole words in any case, over line breaks too.
func phraseRE(phrase string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + strings.Join(quoteAll(strings.Fields(phrase)), `\s+`) + `\b`)
}

// codeRE matches what is not prose in a Markdown text: code, what a program
// generated between two comments, and the targets of links.
var codeRE = regexp.MustCompile("(?s)```.*?```|<!-- begin.*?<!-- end -->|`[^`\n]*`|\\]\\([^)\n]*\\)")

// prose blanks out what is not prose. Every line stays where it is.
func prose(text string) string { return blank(text, codeRE) }

var (
	commentRE = regexp.MustCompile(`(?m)^[ \t]*(//|#|--|\*|/\*)`)
	humpRE    = regexp.MustCompile(`([a-z0-9])([A-Z])|_`)
)

// codeWords separates the words of names and removes the marks of comments, so
// that a phrase is found in a name and over the lines of a comment.
func codeWords(text string) string {
	return humpRE.ReplaceAllString(commentRE.ReplaceAllString(text, " "), "$1 $2")
}

func blank(text string, re *regexp.Regexp) string {
	return re.ReplaceAllStringFunc(text, func(found string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return '.'
		}, found)
	})
}

func wordsIn(file, text string, banned []bannedWord) []Breach {
	var bad []Breach
	flat := strings.Join(strings.Fields(strings.ToLower(text)), " ") // searching it is much faster than matching
	for _, w := range banned {
		if !strings.Contains(flat, w.plain) {
			continue
		}
		rest := text
		for _, a := range w.allowed {
			rest = blank(rest, a)
		}
		for _, at := range w.phrase.FindAllStringIndex(rest, -1) {
			line := 1 + strings.Count(rest[:at[0]], "\n")
			found := strings.Join(strings.Fields(rest[at[0]:at[1]]), " ")
			bad = append(bad, Breach{file, line, fmt.Sprintf("%q: write %s; see %s", found, w.write, styleGuide)})
		}
	}
	slices.SortFunc(bad, func(a, b Breach) int { return cmp.Compare(a.Line, b.Line) })
	return bad
}
