package config

import (
	"log/slog"
	"sync"

	"coppice"
	"coppice/secret"
)

// Prices are what models cost by the user's configuration. The file is read for
// each call, so changes count without a restart. A file that cannot be read names
// no prices, and the log says so once.
type Prices struct {
	Environ []string // Coppice's own environment
	Logger  *slog.Logger

	mu   sync.Mutex
	said string // what was logged last
}

// Load returns the prices.
func (p *Prices) Load() map[string]coppice.Price {
	u, err := loadUser(p.Environ)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.said = ""
	} else if p.said != err.Error() {
		p.said = err.Error()
		p.Logger.Warn("the prices in the user's configuration do not count", "error", err)
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
