// Package outward holds no code, only the watch on rounding: with the tag coarse (go test -tags
// coarse ./internal/outward) it computes what the library proves on small inputs, again and
// again, while package directed makes one of its call sites at a time err by some 2^-20 in that
// site's own direction. Every proved end must then move outward or stay. A bound that is
// rounded the wrong way moves inward, by far more than any other effect of rounding.
//
// A call site that no scenario reaches is named, unless it is excused with a reason.
package outward
