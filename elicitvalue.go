package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/internal/schema"
)

// ElicitFieldError says what is wrong with the value of a field, in words for the user. It does not repeat the value.
type ElicitFieldError struct {
	Field  string // the name
	Label  string // what to call it
	Reason string // "must be a whole number"
}

func (e *ElicitFieldError) Error() string { return e.Label + ": " + e.Reason }

// Fill returns a copy of content in which the fields that the user left out (absent or nil) have their defaults, if
// they have any.
func (s *ElicitSchema) Fill(content map[string]any) map[string]any {
	filled := make(map[string]any, len(s.Fields))
	for name, value := range content {
		if value != nil {
			filled[name] = value
		}
	}
	for i := range s.Fields {
		field := &s.Fields[i]
		if _, given := filled[field.Name]; given || field.Default == nil {
			continue
		}
		filled[field.Name] = field.Default
		if choices, ok := field.Default.([]string); ok {
			filled[field.Name] = slices.Clone(choices)
		}
	}
	return filled
}

// Validate checks content as it would be sent. The error joins an [*ElicitFieldError] for each field that is wrong, in
// the order of the fields. Lengths count characters, numbers are compared exactly, formats that the protocol does not
// define are not checked, nor patterns that package regexp cannot compile, or that compile to more than 2,000
// instructions together.
func (s *ElicitSchema) Validate(content map[string]any) error {
	sent, err := marshal(content)
	if err != nil {
		return fmt.Errorf("the content cannot be sent: %w", err)
	}
	var given Meta
	if err := json.Unmarshal(sent, &given); err != nil {
		return fmt.Errorf("the content cannot be sent: %w", err)
	}
	var errs []error
	budget := patternBudget(maxPatternSize)
	for i := range s.Fields {
		field := &s.Fields[i]
		reason := field.check(given[field.Name], &budget)
		delete(given, field.Name)
		if reason != "" {
			errs = append(errs, &ElicitFieldError{field.Name, field.Label(), reason})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if reason := checkPlain(given[name]); reason != "" {
			errs = append(errs, &ElicitFieldError{name, name, reason})
		}
	}
	return errors.Join(errs...)
}

// check returns what is wrong with a value, "" if nothing is. The value may be nil, which is absent.
func (f *ElicitField) check(value json.RawMessage, patterns *patternBudget) string {
	if value == nil {
		if f.Required {
			return "is required"
		}
		return ""
	}
	d := decoder{Decoder: jsonscan.New(value)}
	switch kind := d.Kind(); f.Type {
	case FieldText:
		if kind != jsonscan.String {
			return "must be text"
		}
		return f.checkText(d.Text(), patterns)
	case FieldNumber, FieldInteger:
		if kind != jsonscan.Number {
			return "must be a number"
		}
		return f.checkNumber(string(value))
	case FieldBoolean:
		if kind != jsonscan.Bool {
			return "must be true or false"
		}
	case FieldChoice:
		if kind != jsonscan.String || !f.hasOption(d.Text()) {
			return "must be " + f.optionList()
		}
	case FieldChoices:
		if checkTexts(value) != "" {
			return "must be a list of choices"
		}
		return f.checkChoices(texts[string](&d))
	default:
		return checkPlain(value)
	}
	return ""
}

func (f *ElicitField) checkText(text string, patterns *patternBudget) string {
	if reason := bounds(utf8.RuneCountInString(text), f.MinLength, f.MaxLength, "character"); reason != "" {
		return "must have " + reason
	}
	if f.Pattern != "" && patterns.allow(f.Pattern) {
		pattern, err := regexp.Compile(f.Pattern)
		if err == nil && !pattern.MatchString(text) {
			return "must match the pattern " + f.Pattern
		}
	}
	return checkFormat(f.Format, text)
}

// patternBudget is how many instructions the patterns of a form may still compile to: a server could have the client
// busy for minutes otherwise.
type patternBudget int

const maxPatternSize = 2000

func (b *patternBudget) allow(pattern string) bool {
	if *b <= 0 {
		return false
	}
	size, err := schema.PatternSize(pattern)
	if err != nil {
		size = len(pattern) // it took its time all the same
	}
	allowed := err == nil && size <= int(*b)
	*b -= patternBudget(size)
	return allowed
}

// bounds returns the bound that n is out of, in words.
func bounds(n int, least, most *int64, unit string) string {
	switch {
	case least != nil && int64(n) < *least:
		return fmt.Sprintf("at least %d %s", *least, plural(*least, unit))
	case most != nil && int64(n) > *most:
		return fmt.Sprintf("at most %d %s", *most, plural(*most, unit))
	}
	return ""
}

func plural(n int64, unit string) string {
	if n == 1 {
		return unit
	}
	return unit + "s"
}

func checkFormat(format, text string) string {
	switch format {
	case "email":
		if !emailLike.MatchString(text) {
			return "must be an e-mail address"
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || !u.IsAbs() {
			return "must be a URL, such as https://example.com"
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "must be a date, such as 2025-12-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err != nil {
			return "must be a date and time, such as 2025-12-31T18:30:00Z"
		}
	}
	return ""
}

// emailLike leaves it to the server what exactly an address is: only mail to it can tell.
var emailLike = regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)

// checkNumber compares as exactly as the decimal texts are. A bound that is out of reach is none.
func (f *ElicitField) checkNumber(text string) string {
	value, ok := exact(text)
	if !ok {
		return "is out of range"
	}
	if f.Type == FieldInteger && !value.IsInt() {
		return "must be a whole number"
	}
	if least, ok := exact(string(f.Minimum)); ok && value.Cmp(least) < 0 {
		return "must be at least " + string(f.Minimum)
	}
	if most, ok := exact(string(f.Maximum)); ok && value.Cmp(most) > 0 {
		return "must be at most " + string(f.Maximum)
	}
	return ""
}

// exact reads a number of up to 1,000 digits and an exponent of up to four: a few bytes may spell one that fills
// memory.
func exact(text string) (*big.Rat, bool) {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(text) > 1000 || len(exponent) > len("-9999") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func (f *ElicitField) checkChoices(chosen []string) string {
	options := make(map[string]bool, len(f.Options))
	for _, o := range f.Options {
		options[o.Value] = true
	}
	for _, value := range chosen {
		if !options[value] {
			return "each must be " + f.optionList()
		}
	}
	if reason := bounds(len(chosen), f.MinItems, f.MaxItems, "choice"); reason != "" {
		return "must have " + reason
	}
	return ""
}

func (f *ElicitField) hasOption(value string) bool {
	return slices.ContainsFunc(f.Options, func(o ElicitOption) bool { return o.Value == value })
}

// optionList names the options, the first ten of them.
func (f *ElicitField) optionList() string {
	const most = 10
	var titles []string
	for _, o := range f.Options[:min(len(f.Options), most)] {
		titles = append(titles, o.Title)
	}
	if len(f.Options) > most {
		titles = append(titles, "...")
	}
	return "one of: " + strings.Join(titles, ", ")
}

// checkPlain allows what the schema of the result does: strings, numbers, booleans and lists of strings.
func checkPlain(value json.RawMessage) string {
	d := jsonscan.New(value)
	switch d.Kind() {
	case jsonscan.String, jsonscan.Number, jsonscan.Bool:
		return ""
	}
	return checkTexts(value)
}

func checkTexts(value json.RawMessage) string {
	const reason = "must be text, a number, true or false, or a list of texts"
	d := jsonscan.New(value)
	if d.Kind() != jsonscan.Array {
		return reason
	}
	for range d.Array() {
		if d.Kind() != jsonscan.String {
			return reason
		}
	}
	return ""
}
