//go:build !(goexperiment.simd && amd64)

package exec

// tiers are those this processor has, best first: none in this build.
func tiers() map[string]*tier { return nil }

func pickTier() tier { return tier{} }
