package clique

import (
	"context"

	"github.com/metricdp/metricdp/internal/bitset"
)

// Graph is an undirected graph without loops, as a bit matrix. The zero value has no vertices.
type Graph struct {
	n, words int
	rows     []uint64
}

// NewGraph returns a graph of n vertices without edges.
func NewGraph(n int) *Graph {
	g := &Graph{}
	g.Reset(n)
	return g
}

// Reset makes g a graph of n vertices without edges, in its old memory where that suffices.
func (g *Graph) Reset(n int) {
	g.n, g.words = n, bitset.Words(n)
	g.rows = zeroed(g.rows, n*g.words)
}

// Len is the number of vertices.
func (g *Graph) Len() int { return g.n }

// Row is the set of the neighbors of vertex i. It is not a copy.
func (g *Graph) Row(i int) bitset.Set { return g.rows[i*g.words : (i+1)*g.words] }

// Join adds the edge of i and j, which differ.
func (g *Graph) Join(i, j int) {
	g.rows[i*g.words+j/64] |= 1 << (j % 64)
	g.rows[j*g.words+i/64] |= 1 << (i % 64)
}

// Far makes g the far graph of the points pts at separation s: i and j are joined where
// dist(pts[i], pts[j]) > s. Its cliques are the s-separated sets, its color classes the sets of
// diameter at most s. m(m-1)/2 calls of dist. The error is ctx's.
func (g *Graph) Far(ctx context.Context, dist func(i, j int) float64, pts []int, s float64) error {
	g.Reset(len(pts))
	for i, p := range pts {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := range i {
			if dist(p, pts[j]) > s {
				g.Join(i, j)
			}
		}
	}
	return nil
}
