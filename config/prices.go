package config

import (
	"log/slog"
	"sync"

	"coppice"
	"coppice/secret"
)

// Prices are the prices of models in the user's configuration. The file is read
// for each call, so changes need no restart. A file that cannot be read has no
// prices, and the log says so one time.
type Prices struct {
	Environ []string // Coppice's own environment
	Logger  *slog.Logger

	mu     sync.Mutex
	logged string // the last error that was logged
}

// Load returns the prices.
func (p *Prices) Load() map[string]coppice.Price {
	u, err := loadUser(p.Environ)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.logged = ""
	} else if p.logged != err.Error() {
		p.logged = err.Error()
		p.Logger.Warn("the prices in the user's configuration cannot be used", "error", err)
	}
	return u.Prices
}

func loadUser(environ []string) (User, error) {
	dir, err := secret.UserDir(environ)
	if err != nil {
		return User{}, err
	}
	u, _, err := LoadUser(dir)
	return u, err
}
