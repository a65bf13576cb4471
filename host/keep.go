package host

import (
	"coppice"
	"coppice/internal/spool"
)

// Pictures that a session took as evidence are pieces of its output. Whoever
// reaches the socket may hand one in, so each is looked at, and all are bounded.
const (
	mostPicture  = 8 << 20   // bytes of one
	mostPictures = 200       // of one session
	mostEvidence = 128 << 20 // bytes of them all
)

// keeping counts the pictures of a session.
type keeping struct {
	pictures int
	bytes    int64
	told     bool // that no more are kept
}

// keepable tells what is wrong with a picture.
func keepable(picture []byte) error {
	switch {
	case len(picture) > mostPicture:
		return coppice.Errorf(coppice.ETooLarge, "a picture of %d bytes is too large, %d are kept", len(picture), mostPicture).
			WithFix("take it smaller, or as JPEG or WebP")
	case coppice.ImageType(picture) == "":
		return coppice.Errorf(coppice.EInvalid, "this is no PNG, JPEG or WebP picture")
	}
	return nil
}

// keep appends a picture to the spool.
func (h *host) keep(picture []byte) error {
	if err := keepable(picture); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept.pictures >= mostPictures || h.kept.bytes+int64(len(picture)) > mostEvidence {
		if !h.kept.told {
			h.kept.told = true
			h.note("this session has taken many pictures: further ones may not be kept")
		}
		return coppice.Errorf(coppice.ETooLarge, "the session has %d pictures of %d bytes in all; no more are kept", h.kept.pictures, h.kept.bytes)
	}
	if h.full {
		return coppice.Errorf(coppice.EUnavailable, "the session's output takes no more pictures")
	}
	// A picture that does not fit on the disk is no reason to keep nothing
	// smaller: it leaves no gap in what the agent wrote.
	if _, err := h.spool.Append(h.now(), spool.Image, picture); err != nil {
		h.log.Error("picture not kept", "error", err)
		return coppice.Errorf(coppice.EUnavailable, "the picture could not be kept: %w", err)
	}
	h.kept.pictures++
	h.kept.bytes += int64(len(picture))
	h.wake()
	return nil
}
