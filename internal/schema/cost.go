package schema

import (
	"errors"
	"fmt"
)

// The library recurses on the Go stack, tries every branch, and formats an error at every level of every failure. So a
// small schema can take it forever, or end the process. What it does at most is known beforehand: a load is what one
// application of a schema causes at one value, summed over all subschemas that reach that value, however the instance
// makes the schema branch.
type load [loads]float64

const (
	visits      = iota // subschemas that apply to the value
	valueTime          // for any value
	objectTime         // in addition for an object
	stringTime         // for each byte of a string
	nameTime           // for each byte of the names that an object has
	uniqueness         // subschemas with uniqueItems
	failureText        // bytes of error text
	stringText         // for each byte of a string
	nameText           // for each byte of the names that an object has
	loads
)

// Rough times in nanoseconds, rounded up from the benchmarks.
const (
	visitNS     = 1500 // a subschema at a value, with the error that it fails with
	numberNS    = 1000 // comparing numbers: the library does it in big.Rat
	memberNS    = 100  // looking up a member, or noting one as evaluated
	quoteNS     = 40   // a byte of a string, counted and quoted into an error
	matchNS     = 20   // a byte of a string at one instruction of a regular expression
	hashNS      = 500  // a value below a uniqueItems
	hashByteNS  = 2
	collisionNS = 50 // comparing a value below a uniqueItems with another one
)

const (
	maxWork    = 4e9     // nanoseconds, roughly
	maxFailure = 1 << 28 // bytes of error texts that the library may hold at once
	maxDepth   = 256     // levels through which recursion is followed
)

// loadOf is what a node does to the value itself. A name is printed in full, where another string is printed as an
// excerpt.
func loadOf(n *node, checksName bool) load {
	s := n.lib
	var c load
	c[visits] = 1
	c[valueTime] = visitNS
	if isFalse(s) {
		c[visits], c[valueTime] = 2, 2*visitNS
	}
	c[failureText] = 128 + float64(len(s.Pattern))
	for _, v := range s.Enum {
		c[valueTime] += comparison(v)
		c[failureText] += 80
	}
	if s.Const != nil {
		c[valueTime] += comparison(*s.Const)
		c[failureText] += 80
	}
	for _, limit := range []*float64{s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf} {
		if limit != nil {
			c[valueTime] += numberNS
			c[failureText] += 1000 // 5e-324 as a fraction
		}
	}

	names := len(s.Properties) + len(s.Required) + len(s.DependentSchemas) + len(s.DependentRequired)
	for _, required := range s.DependentRequired {
		names += len(required)
		c[failureText] += quoted(required)
	}
	c[objectTime] = float64(names) * memberNS
	c[failureText] += quoted(s.Required)

	if s.MinLength != nil || s.MaxLength != nil || s.Pattern != "" {
		c[stringTime] = quoteNS + matchNS*float64(n.program)
		c[stringText] = escape
	} else if checksName {
		c[stringTime], c[stringText] = quoteNS, escape
	}
	c[nameTime] = matchNS * float64(n.namePrograms)
	if isFalse(s.AdditionalProperties) { // all that it excludes are named
		c[nameTime] += quoteNS
		c[nameText] = escape
	}
	if s.UniqueItems {
		c[uniqueness] = 1
	}
	return c
}

// isFalse knows the schema false by its form.
func isFalse(s *lib) bool { return s != nil && s.Not != nil && s.Not.ID == "" }

// comparison is the time of comparing an instance with v.
func comparison(v any) float64 {
	time := float64(memberNS)
	switch v := v.(type) {
	case int64, uint64, float64:
		return numberNS
	case object:
		for _, member := range v {
			time += comparison(member)
		}
	case array:
		for _, element := range v {
			time += comparison(element)
		}
	case text:
		time += float64(len(v)) / 10
	}
	return time
}

func quoted(names []string) float64 {
	size := 0.
	for _, name := range names {
		size += escape * float64(len(name)+1)
	}
	return size
}

// escape is how many bytes quoting makes of one at worst: \x00.
const escape = 4

// nameCheckers are the nodes that propertyNames applies to the names of members.
func nameCheckers(nodes []*node) []bool {
	checks := make([]bool, len(nodes))
	var found []*node
	for _, n := range nodes {
		if n.keyword == "propertyNames" {
			found = append(found, n)
		}
	}
	for len(found) > 0 {
		n := found[len(found)-1]
		found = found[:len(found)-1]
		if !checks[n.index] {
			checks[n.index] = true
			found = append(found, n.edges[inPlace]...)
		}
	}
	return checks
}

func (c load) plus(d load) load {
	for i := range c {
		c[i] += d[i]
	}
	return c
}

func (c load) atLeast(d load) load {
	for i := range c {
		c[i] = max(c[i], d[i])
	}
	return c
}

// inPlaceOrder lists the nodes so that each comes after those that it applies to its own value. It fails when there is
// no such order: then checking would never end.
func inPlaceOrder(nodes []*node) ([]*node, error) {
	waits := make([]int, len(nodes))
	waiting := make([][]*node, len(nodes))
	order := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		if waits[n.index] = len(n.edges[inPlace]); waits[n.index] == 0 {
			order = append(order, n)
		}
		for _, child := range n.edges[inPlace] {
			waiting[child.index] = append(waiting[child.index], n)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, n := range waiting[order[i].index] {
			if waits[n.index]--; waits[n.index] == 0 {
				order = append(order, n)
			}
		}
	}
	if len(order) < len(nodes) {
		return nil, errors.New("schema is not usable: it refers to itself without end")
	}
	return order, nil
}

// A profile is the load of a schema at each depth of an instance.
type profile struct {
	levels []load
	open   bool // there is more below, and it was not followed
	chain  float64
}

// newProfile computes, level by level, the load of every node at values so far below its own, from that of its
// subschemas one level closer.
func newProfile(nodes, order []*node) profile {
	p := profile{chain: longestChain(order)}
	names := nameCheckers(nodes)
	above, current := make([]load, len(nodes)), make([]load, len(nodes))
	for depth := 0; ; depth++ {
		active := false
		for _, n := range order {
			var c load
			if depth == 0 {
				c = loadOf(n, names[n.index])
			} else {
				c = loadBelow(n, above)
			}
			for _, child := range n.edges[inPlace] {
				c = c.plus(current[child.index])
			}
			current[n.index] = c
			active = active || c[visits] > 0
		}
		total := current[0]
		if !active {
			return p
		}
		if depth > maxDepth || total[valueTime] > maxWork {
			p.open = true
			return p
		}
		p.levels = append(p.levels, total)
		above, current = current, above
	}
}

// loadBelow is the load that n's subschemas for members or elements put on a value, given theirs one level closer. A
// value is either below a member or below an element.
func loadBelow(n *node, above []load) load {
	side := func(one, each edge) load {
		var c load
		for _, child := range n.edges[one] {
			c = c.atLeast(above[child.index])
		}
		for _, child := range n.edges[each] {
			c = c.plus(above[child.index])
		}
		return c
	}
	return side(oneMember, eachMember).atLeast(side(oneItem, eachItem))
}

// longestChain is how many subschemas the library nests on its stack at one value.
func longestChain(order []*node) float64 {
	longest := 0.
	chains := make([]float64, len(order))
	for _, n := range order {
		chain := 0.
		for _, child := range n.edges[inPlace] {
			chain = max(chain, chains[child.index])
		}
		chains[n.index] = chain + 1
		longest = max(longest, chain+1)
	}
	return longest + 1 // the schema inside of false
}

// admit refuses an instance that may take too long, too much memory or too much stack. Every failure is kept as text
// once for each level of the stack, so that the bound on text bounds the stack as well.
func (p profile) admit(shape []level) error {
	if p.open && len(shape) > len(p.levels) {
		return fmt.Errorf("%w: the schema branches too much for a value with %d levels", ErrTooComplex, len(shape))
	}
	var work, failure, stack, hashed float64
	for depth, at := range shape {
		work += hashed * (at.nodes*hashNS + at.stringBytes*hashByteNS)
		if depth >= len(p.levels) {
			continue
		}
		c := p.levels[depth]
		work += c[valueTime]*at.nodes + c[objectTime]*at.objects
		work += c[stringTime]*at.stringBytes + c[nameTime]*at.nameBytes
		if depth+1 < len(shape) {
			work += c[visits] * shape[depth+1].nodes * memberNS
		}
		work += c[uniqueness] * at.pairs * collisionNS
		hashed += c[uniqueness]
		stack += min(c[visits], p.chain)
		failure += c[failureText] + c[stringText]*at.stringBytes + c[nameText]*at.nameBytes
	}
	switch {
	case work > maxWork:
		return fmt.Errorf("%w: it could take more than %d seconds", ErrTooComplex, int(maxWork/1e9))
	case failure*stack > maxFailure:
		return fmt.Errorf("%w: the schema branches too much for a value of this size", ErrTooComplex)
	}
	return nil
}
