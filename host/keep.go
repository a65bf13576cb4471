package host

import (
	"coppice"
	"coppice/internal/spool"
)

// Pictures that a session took as evidence are pieces of its output. Every
// process that reaches the socket can send one, so each is checked, and their
// number and size are limited.
const (
	mostPicture  = 8 << 20   // bytes of one picture
	mostPictures = 200       // pictures of one session
	mostEvidence = 128 << 20 // bytes of all pictures of a session
)

// pictureCount counts the pictures of a session.
type pictureCount struct {
	pictures     int
	bytes        int64
	fullReported bool // the spool has the note that no more are kept
}

// validPicture checks a picture.
func validPicture(picture []byte) error {
	switch {
	case len(picture) > mostPicture:
		return coppice.Errorf(coppice.ETooLarge, "a picture of %d bytes is too large: at most %d bytes are kept", len(picture), mostPicture).
			WithFix("take a smaller one, or use JPEG or WebP")
	case coppice.ImageType(picture) == "":
		return coppice.Errorf(coppice.EInvalid, "this is not a PNG, JPEG or WebP picture")
	}
	return nil
}

// keep appends a picture to the spool.
func (h *host) keep(picture []byte) error {
	if err := validPicture(picture); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept.pictures >= mostPictures || h.kept.bytes+int64(len(picture)) > mostEvidence {
		if !h.kept.fullReported {
			h.kept.fullReported = true
			h.note("this session has taken many pictures: further ones might not be kept")
		}
		return coppice.Errorf(coppice.ETooLarge, "the session has %d pictures of %d bytes in all, and cannot keep more", h.kept.pictures, h.kept.bytes)
	}
	if h.full {
		return coppice.Errorf(coppice.EUnavailable, "the session's output cannot keep more pictures")
	}
	// A picture that does not fit on the disk leaves no gap in the agent's
	// output. Smaller pieces can still follow.
	if _, err := h.spool.Append(h.now(), spool.Image, picture); err != nil {
		h.log.Error("picture not kept", "error", err)
		return coppice.Errorf(coppice.EUnavailable, "the picture could not be kept: %w", err)
	}
	h.kept.pictures++
	h.kept.bytes += int64(len(picture))
	h.wake()
	return nil
}
