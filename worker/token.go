package worker

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	f, err := os.CreateTemp(dir, tokenFile+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(token)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
