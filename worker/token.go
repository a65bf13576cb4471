package worker

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice/internal/atomicfile"
)

// tokenFile contains a session's token in its directory, 0600.
const tokenFile = "token"

// tokenPrefix starts every token, so that tokens can be found and masked in
// output.
const tokenPrefix = "cop_"

// sessionToken returns the session's own token for tool servers. It is created
// once and exists as long as the session's directory.
func sessionToken(dir string) (string, error) {
	path := filepath.Join(dir, tokenFile)
	b, err := os.ReadFile(path)
	if err == nil && strings.HasPrefix(string(b), tokenPrefix) {
		return string(b), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading the session's token: %w", err)
	}
	token := tokenPrefix + rand.Text()
	if err := writeToken(dir, path, token); err != nil {
		return "", fmt.Errorf("keeping the session's token: %w", err)
	}
	return token, nil
}

// writeToken writes the file atomically.
func writeToken(dir, path, token string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, atomicfile.Options{NoSync: true}, func(f *os.File) error {
		_, err := f.WriteString(token)
		return err
	})
}
