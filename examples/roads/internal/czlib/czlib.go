// Package czlib stands in for github.com/datadog/czlib, which osmpbf wants where
// there is a C compiler: the standard library reads zlib without one.
package czlib

import (
	"compress/zlib"
	"io"
)

// NewReader returns what r has, uncompressed.
func NewReader(r io.Reader) (io.ReadCloser, error) { return zlib.NewReader(r) }
