package landing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// Limits of what a squashed commit says about the commits that it replaces.
const (
	mostMessages     = 20
	mostMessageBytes = 4 << 10
)

// squashed returns the message of a squashed commit: the spec's message with the
// messages of the commits that it replaces, before the trailers.
func (ls *Landings) squashed(ctx context.Context, r repo.Repo, spec coppice.MergeSpec, base string) (string, error) {
	messages, err := ls.messages(ctx, r, base, spec.Head)
	if err != nil {
		return "", err
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

// messages returns the messages of the newest commits that a head has and a base does
// not have, the oldest first.
func (ls *Landings) messages(ctx context.Context, r repo.Repo, base, head string) ([]string, error) {
	if list, err := ls.Files(ctx, r.Git).Since(base, head); err == nil {
		var messages []string
		for _, c := range slices.Backward(list[:min(len(list), mostMessages)]) {
			messages = append(messages, c.Message)
		}
		return messages, nil
	}
	out, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{
		"log", "--no-merges", "--no-patch", "--no-show-signature", "--encoding=UTF-8", "--reverse", "--max-count=" + strconv.Itoa(mostMessages), "--format=%B%x00",
		"--end-of-options", head, "^" + base,
	}})
	return strings.Split(out, "\x00"), err
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
