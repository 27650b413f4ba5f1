// Package table reads and writes tables of numbers, dates, categories and places by
// a public schema, as records of a box.
package table
