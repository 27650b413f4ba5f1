package additive

import "fmt"

// A value that no constructor made adds no noise, so that it must not release.

// unmade is the error of its methods that return one.
func unmade(op, constructor string) error {
	return fmt.Errorf("additive: %s: a value that is not from %s", op, constructor)
}

// mustBeMade panics in its methods that return a number.
func mustBeMade(made bool, op, constructor string) {
	if !made {
		panic(unmade(op, constructor))
	}
}
