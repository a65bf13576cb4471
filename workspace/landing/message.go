package landing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Limits of what a squashed commit says about the commits that it replaces.
const (
	mostMessages     = 20
	mostMessageBytes = 4 << 10
)

// squashed returns the message of a squashed commit: the spec's message with the
// messages of the commits that it replaces, before the trailers.
func (ls *Landings) squashed(ctx context.Context, r repo.Repo, spec coppice.MergeSpec, base string, head gitfiles.Commit) (string, error) {
	messages := []string{head.Message}
	if !slices.Equal(head.Parents, []string{base}) {
		out, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{
			"log", "--no-merges", "--no-patch", "--no-show-signature", "--encoding=UTF-8", "--reverse", "--max-count=" + strconv.Itoa(mostMessages), "--format=%B%x00",
			"--end-of-options", spec.Head, "^" + base,
		}})
		if err != nil {
			return "", err
		}
		messages = strings.Split(out, "\x00")
	}
	title, _, _ := strings.Cut(spec.Message, "\n")
	text := listed(messages, strings.TrimSpace(title))
	if text == "" {
		return spec.Message, nil
	}
	message := strings.TrimSpace(spec.Message)
	if trailers, ok := lastBlock(message); ok {
		return strings.TrimSuffix(message, trailers) + text + "\n" + trailers + "\n", nil
	}
	return message + "\n\n" + text, nil
}

// listed returns the messages of commits as a list. It leaves out commits that only
// repeat the title, as those of Coppice do, and Coppice's own trailers.
func listed(messages []string, title string) string {
	var b strings.Builder
	for _, m := range messages {
		var lines []string
		for line := range strings.Lines(coppice.Printable(m)) {
			if line = strings.TrimRight(line, " \t\n"); !strings.HasPrefix(line, "Coppice-") {
				lines = append(lines, line)
			}
		}
		text := strings.TrimSpace(strings.Join(lines, "\n"))
		if text == "" || text == title {
			continue
		}
		entry := "* " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n  "), "\n  \n", "\n\n") + "\n"
		if b.Len()+len(entry) > mostMessageBytes {
			b.WriteString("* …\n")
			break
		}
		b.WriteString(entry)
	}
	return b.String()
}
