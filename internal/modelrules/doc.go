// Package modelrules checks definitions of functions against the rules that the providers of models publish. It is for
// tests: the rules are written down here a second time, as JSON Schemas in testdata with their sources, independent of
// the code that follows them.
package modelrules
