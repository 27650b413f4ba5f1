// Package table publishes tables of numbers, dates, categories and places as
// synthetic rows, and reads and writes them by a public schema.
//
// # How
//
// A box of many columns cut into cells (package measure) learns little of any two of
// them. A [Synthesizer] releases instead the margin of each column, then chooses
// which pairs of columns depend on one another most, a tree at most, and releases
// these pairs as measures of ranks on a square. Rows are drawn along the tree: a
// column's rank given that of its parent, and then the value of that rank.
package table
