package irc24

import (
	"context"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

func itemwise(ctx context.Context, r *exhibit.Run) error  { return nil }
func reduction(ctx context.Context, r *exhibit.Run) error { return nil }
func frequency(ctx context.Context, r *exhibit.Run) error { return nil }
