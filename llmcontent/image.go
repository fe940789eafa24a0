package llmcontent

import (
	"bytes"
	"fmt"
	"strings"
)

// image returns an image, or a remark with the facts if a model could not take it: one of another format, a broken or
// a large one. The last of the facts is the type that the server gave, which need not be right.
func (r *reader) image(data []byte, err error, facts ...string) Block {
	if err != nil || len(data) == 0 || r.noImages {
		return omitted(data, err, facts...)
	}
	format := imageType(data)
	switch {
	case format == "":
		return remark(append(facts, size(len(data)), "not shown: it is no PNG, JPEG, WebP or GIF")...)
	case len(data) > r.eachImage:
		return remark(append(facts, size(len(data)), fmt.Sprintf("not shown: at most %d are", r.eachImage))...)
	case len(data) > r.total:
		return remark(append(facts, size(len(data)), "not shown: the images before it have used up the space")...)
	}
	r.total -= len(data)
	return Block{Image: &Image{MIMEType: format, Data: data}}
}

// imageType tells the formats that models take by their first bytes. It is "" for any other.
func imageType(data []byte) string {
	starts := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	switch {
	case starts("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case starts("\xff\xd8\xff"):
		return "image/jpeg"
	case starts("GIF87a"), starts("GIF89a"):
		return "image/gif"
	case starts("RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// isImage also takes types in capitals (RFC 2045, section 5.1).
func isImage(mediaType string) bool {
	const image = "image/"
	return len(mediaType) > len(image) && strings.EqualFold(mediaType[:len(image)], image)
}

// omitted stands for data that is not passed on. What is wrong with it in detail is of no use to a model.
func omitted(data []byte, err error, facts ...string) Block {
	if err != nil {
		return remark(append(facts, "cannot be decoded")...)
	}
	return remark(append(facts, size(len(data)))...)
}
