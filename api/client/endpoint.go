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

// The files in the state directory with which clients find the server. Only
// their owner can read them.
const (
	endpointFile = "server.json"
	tokenFile    = "token"
)

// Endpoint is the address and the process of a server.
type Endpoint struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// EnsureToken returns the token in the state directory, and creates one if
// there is none. It survives restarts, so that followers can reconnect.
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

// WriteEndpoint publishes the server's address to clients. It does not survive a
// crash of the machine, which ends the server, too.
func WriteEndpoint(dir string, e Endpoint) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, endpointFile), atomicfile.Options{NoSync: true}, func(f *os.File) error {
		_, err := f.Write(append(b, '\n'))
		return err
	})
}

// RemoveEndpoint removes the server's address, unless another process has
// replaced it.
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

// ReadEndpoint finds the running server and its token.
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

// onLoopback refuses to send the token to another machine.
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
	return coppice.Errorf(coppice.EInvalid, "%s is not an address of a server on this machine", coppice.Quote(raw)).
		WithFix("restart the server with `coppice serve`")
}

// ErrNoServer is in the chain of every error that means that no server runs.
var ErrNoServer = errors.New("client: no server is running")

func noServer(err error) error {
	return &coppice.Error{
		Code: coppice.EUnavailable, Cause: "no coppice server is running", Fix: "start one with `coppice serve -d`", Err: errors.Join(ErrNoServer, err),
	}
}

// readSecret reads a file that only its owner can read. It refuses a file that
// others could have read or written, or that another user owns: its content is
// neither secret nor trusted.
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
			WithFix("remove it, run `chmod 700 %s` and restart the server, which then creates a new one", filepath.Dir(path))
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return "", coppice.Errorf(coppice.EForbidden, "%s belongs to another user", path).
			WithFix("run coppice as the user who runs the server, or set COPPICE_STATE to your own directory")
	}
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return strings.TrimSpace(string(b)), err
}
