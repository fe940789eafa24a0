package schema

import (
	"math"
	"math/big"
)

// bounds translates minimum, maximum and their exclusive forms. The library holds them in float64, which an integer
// above 2^53 need not fit. There all values are integers, so that "at most 9007199254740993" is "below
// 9007199254740994", which fits. Above 2^54 the next float64 may be farther away, and the bound is that much wider,
// never narrower.
func (k *reading) bounds(s *lib) {
	k.bound("maximum", &s.Maximum, &s.ExclusiveMaximum, 1, false)
	k.bound("exclusiveMaximum", &s.Maximum, &s.ExclusiveMaximum, 1, true)
	k.bound("minimum", &s.Minimum, &s.ExclusiveMinimum, -1, false)
	k.bound("exclusiveMinimum", &s.Minimum, &s.ExclusiveMinimum, -1, true)
}

// bound adds one bound to those that are there. outward is 1 for an upper bound and -1 for a lower one.
func (k *reading) bound(keyword string, inclusive, exclusive **float64, outward int64, excluded bool) {
	nearest := k.float(keyword)
	if nearest == nil {
		return
	}
	exact := exactInt(k.keywords[keyword])
	if exact == nil || fits(exact, *nearest) {
		if excluded {
			tighten(exclusive, *nearest, outward)
		} else {
			tighten(inclusive, *nearest, outward)
		}
		return
	}
	if excluded { // the last integer that is allowed
		exact.Sub(exact, big.NewInt(outward))
		if f, _ := new(big.Float).SetInt(exact).Float64(); fits(exact, f) {
			tighten(inclusive, f, outward)
			return
		}
	}
	tighten(exclusive, nextBeyond(exact, outward), outward)
}

// exactInt returns an integer that may not fit float64, nil for what was read as a float64.
func exactInt(v any) *big.Int {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case uint64:
		return new(big.Int).SetUint64(v)
	}
	return nil
}

func fits(n *big.Int, f float64) bool {
	return new(big.Float).SetInt(n).Cmp(big.NewFloat(f)) == 0
}

// nextBeyond is the first float64 on the outward side of n.
func nextBeyond(n *big.Int, outward int64) float64 {
	mode := big.ToPositiveInf
	if outward < 0 {
		mode = big.ToNegativeInf
	}
	f, _ := new(big.Float).SetPrec(53).SetMode(mode).SetInt(n).Float64()
	return f
}

// tighten keeps the tighter of two bounds: two keywords may end up as one.
func tighten(bound **float64, f float64, outward int64) {
	switch {
	case *bound == nil:
		*bound = &f
	case outward > 0:
		**bound = math.Min(**bound, f)
	default:
		**bound = math.Max(**bound, f)
	}
}
