//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
)

// marker is in the prompt and must be nowhere else.
const marker = "not-for-other-eyes"

func TestALargePromptArrivesAndStaysPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - match: "(?:BEGIN\n)(.*)\nEND"
    steps:
      - write: {path: prompt.txt, content: "$1"}
      - wait_message: true
`})
	w.serve()
	body := prose(1 << 20)
	file := filepath.Join(w.Root, "body.md")
	if err := os.WriteFile(file, []byte("BEGIN\n"+body+"\nEND\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := w.new("Read a lot", "--body-file", file)
	w.working(key, coppice.SessionIdle)

	secret, err := os.ReadFile(filepath.Join(w.State, "token"))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(secret))
	all := w.Processes()
	if !slices.ContainsFunc(all, proc.IsAgent) {
		t.Error("the agent is not among the processes")
	}
	for _, p := range all {
		for _, text := range append(p.Argv, p.Environ...) {
			if strings.Contains(text, marker) || strings.Contains(text, token) {
				t.Errorf("%q shows it: %.200q", p.Argv[:min(2, len(p.Argv))], text)
			}
		}
		if p.IsAgent() && p.Value("COPPICE_STATE") != "" {
			t.Error("the agent's environment says where the state is")
		}
	}
	w.cli("send", key, "continue")
	w.landed(key)
	if got := w.onBase("prompt.txt"); got != body {
		t.Errorf("%d bytes arrived of %d", len(got), len(body))
	}
}

// prose makes text of that size, in lines of words.
func prose(size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"grow", "the", "tree", "ümläut", "\"quoted\"", "back\\slash", "$HOME", "🌱", marker, "<b>", "'", "\t"}
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(12) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + "end"
}
