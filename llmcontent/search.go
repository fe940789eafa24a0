package llmcontent

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Search returns the entries that fit the words of a query best, the best first, as a page: see [Catalog.Page] for
// offset and limit. The page's Total counts all that fit at all.
//
// Words are found in names, titles, descriptions and names of arguments, and ranked by Okapi BM25, where a word in a
// name counts most. They are compared in lower case and without a plural's s, and names are taken apart: "listFiles"
// has the words list and file.
func (c *Catalog) Search(query string, offset, limit int, d Detail) (*Page, error) {
	var found []Entry
	for _, i := range c.index.search(words(query)) {
		found = append(found, c.entries[i])
	}
	p, err := page(found, offset, limit, d)
	if err != nil {
		return nil, fmt.Errorf("llmcontent: search: %w", err)
	}
	return p, nil
}

// The parameters of BM25 are those that are in common use. A word counts more than once by where it stands.
const (
	bm25K1 = 1.2
	bm25B  = 0.75

	inName, inTitle, inArgument, inDescription = 4, 3, 2, 1
)

// An index has the words of each entry of a catalog.
type index struct {
	postings map[string][]posting
	lengths  []float64
	average  float64
}

type posting struct {
	entry int
	count float64
}

func newIndex(c *Catalog) *index {
	x := &index{postings: map[string][]posting{}, lengths: make([]float64, len(c.entries))}
	for i, e := range c.entries {
		counts := map[string]float64{}
		count := func(weight float64, texts ...string) {
			for _, text := range texts {
				for _, word := range words(text) {
					counts[word] += weight
					x.lengths[i] += weight
				}
			}
		}
		count(inName, e.Name)
		count(inTitle, e.Title)
		count(inArgument, c.keys[i]...)
		count(inDescription, e.Description)
		for word, n := range counts {
			x.postings[word] = append(x.postings[word], posting{i, n})
		}
		x.average += x.lengths[i]
	}
	x.average /= float64(max(len(c.entries), 1))
	return x
}

// search returns the numbers of the entries that have one of the words, the best first. Those that fit as well keep the
// order of the catalog.
func (x *index) search(query []string) []int {
	slices.Sort(query)
	scores := map[int]float64{}
	for _, word := range slices.Compact(query) {
		list := x.postings[word]
		rarity := math.Log(1 + (float64(len(x.lengths)-len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			norm := bm25K1 * (1 - bm25B + bm25B*x.lengths[p.entry]/x.average)
			scores[p.entry] += rarity * p.count * (bm25K1 + 1) / (p.count + norm)
		}
	}
	found := make([]int, 0, len(scores))
	for i := range scores {
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return found
}

// words takes text apart, at what is no letter or digit and where small letters are followed by a capital. What is
// written in one word is a word too.
func words(text string) []string {
	var out []string
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, run := range strings.FieldsFunc(text, between) {
		parts := camelParts(run)
		for _, part := range parts {
			out = append(out, singular(part))
		}
		if len(parts) > 1 {
			out = append(out, singular(run))
		}
	}
	return out
}

func singular(word string) string {
	word = strings.ToLower(word)
	if len(word) > 3 && !strings.HasSuffix(word, "ss") {
		word = strings.TrimSuffix(word, "s")
	}
	return word
}

func camelParts(word string) []string {
	var parts []string
	start, small := 0, false
	for i, r := range word {
		if unicode.IsUpper(r) && small {
			parts = append(parts, word[start:i])
			start = i
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return append(parts, word[start:])
}

// propertyNames returns the names of the arguments in a schema.
func propertyNames(schema []byte) (names []string) {
	d := jsonscan.New(schema)
	for key := range d.Object() {
		if string(key) != "properties" {
			continue
		}
		for name := range d.Object() {
			names = append(names, string(name))
		}
	}
	return names
}
