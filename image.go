package coppice

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"time"
)

// ImageType returns the media type of a picture by its first bytes, and "" for a
// type that is not kept as evidence.
func ImageType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case len(data) >= 12 && bytes.HasPrefix(data, []byte("RIFF")) && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Limits of the images that people attach. An agent's protocol puts all images
// of a message on one line, which is limited as well.
const (
	MaxImage      = 5 << 20 // bytes of one image
	MaxImages     = 10      // of a request
	MaxTaskImages = 20      // of a task
	MaxImageBytes = 8 << 20 // of all images of a task
)

// ImageTypes are the media types of the images that people attach.
var ImageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Image is a picture that a person attached to a task or to a message.
type Image struct {
	ID   string    `json:"id"` // the hash of its bytes
	Type string    `json:"type"`
	Size int64     `json:"size"`
	At   time.Time `json:"at"` // when it was uploaded
	Data []byte    `json:"-"`
}

// decoders read the size of a picture, by its type. There is none for WebP.
var decoders = map[string]func(io.Reader) (image.Config, error){
	"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig,
}

// NewImage checks the bytes of a picture: a PNG, JPEG, GIF or WebP of a limited
// size. Its bytes decide, not its name.
func NewImage(data []byte, now time.Time) (Image, error) {
	kind := ImageType(data)
	if kind == "" && (bytes.HasPrefix(data, []byte("GIF87a")) || bytes.HasPrefix(data, []byte("GIF89a"))) {
		kind = "image/gif"
	}
	switch decode := decoders[kind]; {
	case len(data) > MaxImage:
		return Image{}, Errorf(ETooLarge, "the image has %s, %s are allowed", Bytes(len(data)), Bytes(MaxImage)).WithFix("use a smaller one, or JPEG or WebP").WithField("images")
	case kind == "":
		return Image{}, Errorf(EInvalid, "this is not a PNG, JPEG, GIF or WebP image").WithFix("convert it to one of these").WithField("images")
	case decode != nil:
		if _, err := decode(bytes.NewReader(data)); err != nil {
			return Image{}, Errorf(EInvalid, "the image is damaged: %v", err).WithFix("save it again").WithField("images")
		}
	}
	sum := sha256.Sum256(data)
	return Image{ID: hex.EncodeToString(sum[:]), Type: kind, Size: int64(len(data)), At: now.UTC(), Data: data}, nil
}

// AddImages returns the images of a task with further ones, each one time.
func AddImages(of, more []string) ([]string, error) {
	if len(more) > MaxImages {
		return nil, Errorf(EInvalid, "the request has %d images, %d are allowed", len(more), MaxImages).WithFix("remove some").WithField("images")
	}
	all := slices.Clone(of)
	for _, id := range more {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if len(all) > MaxTaskImages {
		return nil, Errorf(EInvalid, "the task would have %d images, %d are allowed", len(all), MaxTaskImages).WithFix("create another task for the others").WithField("images")
	}
	return all, nil
}
