package server

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A port for webhooks that is in use does not stop the server, and its health says so.
func TestThePortForWebhooksIsInUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var lc net.ListenConfig
	other, err := lc.Listen(b.ctx, "tcp", "127.0.0.1:0")
	b.must(err)
	defer other.Close()
	user := filepath.Join(b.dir, ".config", "coppice")
	b.must(os.MkdirAll(user, 0o700))
	b.must(os.WriteFile(filepath.Join(user, "config.yaml"), []byte("webhooks: {listen: \""+other.Addr().String()+"\"}\n"), 0o600))
	b.start()
	h, err := b.client().Health(b.ctx, false)
	b.must(err)
	if len(h.Problems) != 1 || h.Problems[0].Kind != "webhooks" || h.Problems[0].Fix == "" {
		t.Errorf("problems: %+v", h.Problems)
	}
}
