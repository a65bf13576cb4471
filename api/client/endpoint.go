package client

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"coppice"
	"coppice/internal/atomicfile"
)

// The files by which clients find the server, in the state directory. Both are
// for their owner only.
const (
	endpointFile = "server.json"
	tokenFile    = "token"
)

// Endpoint is where a server listens, and which process it is.
type Endpoint struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// EnsureToken returns the token kept in the state directory, and makes one
// where there is none. It survives restarts, so that clients that follow
// something find their way back.
func EnsureToken(dir string) (string, error) {
	token, err := readSecret(filepath.Join(dir, tokenFile))
	if err == nil {
		return token, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, atomicfile.Write(filepath.Join(dir, tokenFile), []byte(token+"\n"), 0o600)
}

// WriteEndpoint tells clients where the server listens.
func WriteEndpoint(dir string, e Endpoint) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, endpointFile), append(b, '\n'), 0o600)
}

// RemoveEndpoint tells clients that no server listens, unless another process
// has taken over meanwhile.
func RemoveEndpoint(dir string, pid int) error {
	path := filepath.Join(dir, endpointFile)
	text, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var e Endpoint
	if err == nil && json.Unmarshal([]byte(text), &e) == nil && e.PID != pid {
		return nil
	}
	return os.Remove(path)
}

// ReadEndpoint finds the running server and the token it wants to see.
func ReadEndpoint(dir string) (e Endpoint, token string, err error) {
	text, err := readSecret(filepath.Join(dir, endpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return e, "", noServer(nil)
	}
	if err != nil {
		return e, "", err
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return e, "", noServer(err)
	}
	if err := onLoopback(e.URL); err != nil {
		return e, "", err
	}
	token, err = readSecret(filepath.Join(dir, tokenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return e, "", noServer(nil)
	}
	return e, token, err
}

// onLoopback refuses to show the token to anything that is not this machine.
func onLoopback(raw string) error {
	u, err := url.Parse(raw)
	if err == nil && u.Scheme == "http" {
		if u.Hostname() == "localhost" {
			return nil
		}
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
			return nil
		}
	}
	return coppice.Errorf(coppice.EInvalid, "%s is no address of a server on this machine", coppice.Quote(raw)).
		WithFix("restart the server with `coppice serve`")
}

func noServer(err error) error {
	return &coppice.Error{Code: coppice.EUnavailable, Cause: "no coppice server is running", Fix: "start one with `coppice serve`", Err: err}
}

// readSecret reads a file that nobody else may read. A file that others could
// have read or written, or that is not ours, is refused: what it says is
// neither secret nor to be trusted.
func readSecret(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", coppice.Errorf(coppice.EForbidden, "%s is a symbolic link", path).WithFix("remove it and restart the server")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", coppice.Errorf(coppice.EForbidden, "%s is not a file", path).WithFix("remove it and restart the server")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", coppice.Errorf(coppice.EForbidden, "%s can be read or written by others (mode %04o)", path, info.Mode().Perm()).
			WithFix("remove it, run `chmod 700 %s` and restart the server, which then makes a new one", filepath.Dir(path))
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return "", coppice.Errorf(coppice.EForbidden, "%s belongs to another user", path).
			WithFix("run coppice as the user who runs the server, or with a state directory of your own")
	}
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return strings.TrimSpace(string(b)), err
}
