package config_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/config"
)

// Prices apply as soon as they are written. A file that cannot be read has
// none, and is reported one time.
func TestUserPrices(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var log bytes.Buffer
	p := &config.Prices{Environ: []string{"XDG_CONFIG_HOME=" + home}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if got := p.Load(); len(got) != 0 {
		t.Errorf("without a file: %v", got)
	}
	file := filepath.Join(home, "coppice", config.UserFile)
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("prices: {mine: {input: 1, output: 2}}\n")
	if got := p.Load(); got["mine"].Output != 2 || log.Len() != 0 {
		t.Errorf("%v, logged %s", got, log.String())
	}
	write("prices: {mine: {input: much}}\n")
	for range 3 {
		if got := p.Load(); len(got) != 0 {
			t.Errorf("of a broken file: %v", got)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines are logged: %s", n, log.String())
	}
	write("prices: {mine: {input: 1, output: 3}}\n")
	if got := p.Load(); got["mine"].Output != 3 {
		t.Errorf("fixed: %v", got)
	}
}
