// Package syntax splits source code into coloured tokens, line by line.
//
// Chroma does the work. Its own set of lexers reads all of its 280 languages when
// a program starts, so the build embeds the files of the usual ones, and this
// package reads them when the first file is coloured. Without these files, which
// `make build` writes, text has no colours.
package syntax

//go:generate go run generate.go

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

//go:embed lexers
var files embed.FS

// Token is a class and a text. The class is the short name of Pygments and
// Chroma, such as k for a keyword; it is empty for plain text.
type Token = [2]string

// patience limits how long one file is coloured. The rules of a language can be
// slow for a text that was made for that.
const patience = 2 * time.Second

// registry reads the configurations of all languages. Their rules are read when
// they are used.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	names, err := fs.Glob(files, "lexers/*.xml")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		all.Register(chroma.MustNewXMLLexer(files, name))
	}
	return all
})

// Language returns the name of the language of a file, by the file's name. It is
// empty if the language is not known.
func Language(file string) string {
	if l := registry().Match(path.Base(file)); l != nil {
		return l.Config().Name
	}
	return ""
}

// Lines returns the tokens of each line of a text. The tokens of a line together
// are the line, without its line break. Without a known language, or if colouring
// takes too long, each line is one token.
func Lines(language, text string) [][]Token {
	return lines(language, text, time.Now)
}

func lines(language, text string, now func() time.Time) [][]Token {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if l := registry().Get(language); language != "" && l != nil {
		if out := colour(l, text, now); out != nil {
			return out
		}
	}
	return plain(text)
}

func plain(text string) [][]Token {
	var out [][]Token
	for line := range strings.Lines(text) {
		out = append(out, appendToken(nil, "", strings.TrimSuffix(line, "\n")))
	}
	return out
}

// colour returns nil if a lexer does not succeed in time, or changes the text.
func colour(l chroma.Lexer, text string, now func() time.Time) [][]Token {
	end := now().Add(patience)
	next, err := l.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var out [][]Token
	var line []Token
	length, count := 0, 0
	for t := next(); t != chroma.EOF; t = next() {
		if count++; count%64 == 0 && now().After(end) {
			return nil
		}
		if length += len(t.Value); length > len(text) {
			break
		}
		for rest := t.Value; rest != ""; {
			part, after, broken := strings.Cut(rest, "\n")
			line = appendToken(line, class(t.Type), part)
			if rest = after; broken {
				out, line = append(out, line), nil
			}
		}
	}
	if length != len(text) {
		return nil // the lexer is wrong about this text
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}

// class returns the short name of a type of token, or of the type above it.
func class(t chroma.TokenType) string {
	for _, t := range []chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if name, ok := chroma.StandardTypes[t]; ok {
			if name == "w" {
				return ""
			}
			return name
		}
	}
	return ""
}

// appendToken adds a text to a line, and joins it with the last token if both
// have the same class.
func appendToken(line []Token, class, text string) []Token {
	if text == "" {
		return line
	}
	if n := len(line); n > 0 && line[n-1][0] == class {
		line[n-1][1] += text
		return line
	}
	return append(line, Token{class, text})
}
