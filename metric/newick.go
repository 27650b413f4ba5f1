package metric

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/internal/fault"
)

// What ParseNewick reads at most. A node takes at most some 150 bytes of
// memory, so hostile input can claim about 2.5 GB, and no stack: nesting costs
// nothing.
const (
	maxNewickBytes = 1 << 28
	maxNewickNodes = 1 << 24
)

// SyntaxError reports text that is no tree in Newick format, with the place,
// both counted from 1. Columns count bytes.
type SyntaxError struct {
	Line, Column int    // where
	Msg          string // what is wrong there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("metric: ParseNewick: line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// ParseNewick reads one tree in Newick format, as in "((a:1,b:2):0.5,c:3)root;",
// up to the semicolon and then to the end, where only blanks and comments may
// follow. A byte order mark is skipped. Nodes are numbered in the order they begin:
// preorder.
//
// A name is plain, as it stands, underscores included, or in single quotes,
// with two for one; it is one that [Tree.WithNames] takes. Blanks, and comments
// in square brackets, nested or not, may stand between any two tokens. A node may
// have any number of children, names may be missing and may repeat. Lengths are
// decimal numbers in [0, 1e300]. Where no edge has a length all are 1; where some
// have and some have not it is an error. The root's length is 0 if missing.
//
// The error is a [*SyntaxError], a [*SizeError] beyond 2^28 bytes or 2^24 nodes, or
// that of r. Those take about 2.5 GB of memory; wrap r in an [io.LimitedReader]
// for less.
func ParseNewick(r io.Reader) (*Tree, error) {
	return parseNewick(r, maxNewickBytes, maxNewickNodes)
}

const newickOp = "metric: ParseNewick"

func parseNewick(r io.Reader, maxBytes, maxNodes int) (*Tree, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(bounded.WithoutMark(r), int64(maxBytes)+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", newickOp, err)
	}
	if n > int64(maxBytes) {
		return nil, &SizeError{Op: newickOp, Arg: "text", Got: int(n), Want: fmt.Sprintf("at most %d bytes", maxBytes)}
	}
	p := newickParser{text: text.String(), maxNodes: maxNodes}
	if err := p.tree(); err != nil {
		return nil, err
	}
	return newTree(newickOp, p.parent, p.length, p.names)
}

type newickParser struct {
	text     string
	at       int // the byte to read next
	maxNodes int

	parent []int
	length []float64
	names  []string
	edges  string // of the first edge: withLength or withoutLength
}

const (
	withLength    = "with a length"
	withoutLength = "without a length"
)

// What stands before the next token of a node, and so what may follow.
const (
	begun  = iota // nothing: children, a name, a length or the end
	closed        // its children: a name, a length or the end
	named         // its name: a length or the end
	done          // its length: the end
)

var afterState = [...]string{"", " after a closing parenthesis", " after a name", " after a length"}

// tree parses to the end. The open nodes are the way up from node v.
func (p *newickParser) tree() error {
	if err := p.begin(-1); err != nil {
		return err
	}
	v, state := 0, begun
	for {
		if err := p.skip(); err != nil {
			return err
		}
		if p.at == len(p.text) {
			return p.errorf(p.at, "the text ends, want ';'")
		}
		var err error
		at, c := p.at, p.text[p.at]
		p.at++
		switch {
		case c == ';' && v == 0:
			if err = p.skip(); err == nil && p.at < len(p.text) {
				err = p.errorf(p.at, "unexpected %q after ';'", p.text[p.at:p.at+1])
			}
			return err
		case c == '(' && state == begun:
			err = p.begin(v)
			v = len(p.parent) - 1
		case (c == ',' || c == ')') && v > 0:
			err = p.edge(at, state == done)
			v, state = p.parent[v], closed
			if c == ',' && err == nil {
				err = p.begin(v)
				v, state = len(p.parent)-1, begun
			}
		case c == ':' && state < done:
			p.length[v], err = p.number()
			state = done
		case (c == '\'' || plain(c)) && state < named:
			p.names[v], err = p.name(at)
			state = named
		case c == ';':
			err = p.errorf(at, "';' before all parentheses are closed")
		case (c == ',' || c == ')') && v == 0:
			err = p.errorf(at, "%q outside parentheses", c)
		default:
			err = p.errorf(at, "unexpected %q%s", p.text[at:at+1], afterState[state])
		}
		if err != nil {
			return err
		}
	}
}

func (p *newickParser) begin(parent int) error {
	if len(p.parent) == p.maxNodes {
		return &SizeError{Op: newickOp, Arg: "tree", Got: len(p.parent) + 1, Want: fmt.Sprintf("at most %d nodes", p.maxNodes)}
	}
	length := 1.0
	if parent < 0 {
		length = 0
	}
	p.parent, p.length, p.names = append(p.parent, parent), append(p.length, length), append(p.names, "")
	return nil
}

// edge is called at the end of every node but the root.
func (p *newickParser) edge(at int, hasLength bool) error {
	this := withoutLength
	if hasLength {
		this = withLength
	}
	if p.edges == "" {
		p.edges = this
	}
	if this != p.edges {
		return p.errorf(at, "an edge %s, where those before are %s", this, p.edges)
	}
	return nil
}

func (p *newickParser) number() (float64, error) {
	if err := p.skip(); err != nil {
		return 0, err
	}
	from := p.at
	s := p.word()
	if s == "" {
		return 0, p.errorf(from, "no number after ':'")
	}
	x, err := fault.Decimal(s)
	if err != nil || !(x >= 0 && x <= maxMagnitude) {
		return 0, p.errorf(from, "length %.40q, want a number in [0, 1e300]", s)
	}
	return x, nil
}

// name reads the name, plain or quoted, that begins at from.
func (p *newickParser) name(from int) (name string, err error) {
	if p.text[from] == '\'' {
		for from++; ; p.at += 2 { // two quotes are one of the name
			n := strings.IndexByte(p.text[p.at:], '\'')
			if n < 0 {
				return "", p.errorf(from-1, "a quote that is not closed")
			}
			p.at += n
			if !strings.HasPrefix(p.text[p.at:], "''") {
				break
			}
		}
		name = p.text[from:p.at]
		p.at++
	} else {
		p.at = from
		name = p.word()
	}
	if at, what := fault.Text(name); at >= 0 {
		return "", p.errorf(from+at, "the name %.40q has %s", name, what)
	}
	return strings.ReplaceAll(name, "''", "'"), nil
}

// word reads plain bytes.
func (p *newickParser) word() string {
	from := p.at
	for p.at < len(p.text) && plain(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// skip goes over blanks and comments to the next token or the end.
func (p *newickParser) skip() error {
	open, from := 0, 0 // the comments that are open, and where the first began
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '[':
			if open == 0 {
				from = p.at
			}
			open++
		case c == ']' && open > 0:
			open--
		case open == 0 && !blank(c):
			return nil
		}
	}
	if open > 0 {
		return p.errorf(from, "a comment that is not closed")
	}
	return nil
}

// errorf is the error at a byte.
func (p *newickParser) errorf(at int, format string, args ...any) error {
	before := p.text[:at]
	line, column := 1+strings.Count(before, "\n"), at-strings.LastIndexByte(before, '\n')
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
}

func blank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// plain reports whether c may stand in a name without quotes.
func plain(c byte) bool { return !blank(c) && strings.IndexByte("()[]':;,", c) < 0 }

// WriteNewick writes the tree in Newick format. [ParseNewick] reads it back with
// the same names and lengths, bit for bit, and the nodes numbered in preorder.
// O(n).
func (t *Tree) WriteNewick(w io.Writer) error {
	if err := fault.Empty("metric: Tree.WriteNewick", "the tree", t.Len()); err != nil {
		return err
	}
	b := bufio.NewWriter(w) // keeps the first error until Flush
	var num []byte
	label := func(v int) {
		b.WriteString(quote(t.Name(v)))
		if v != t.root || t.length[v] != 0 {
			num = strconv.AppendFloat(append(num[:0], ':'), t.length[v], 'g', -1, 64)
			b.Write(num)
		}
	}
	// finish writes what ends with the node before one that hangs on p.
	finish := func(last, p int, then byte) {
		for ; t.parent[last] != p; last = t.parent[last] {
			label(last)
			b.WriteByte(')')
		}
		label(last)
		b.WriteByte(then)
	}
	for k, v := range t.pre[1:] {
		if last, p := t.pre[k], t.parent[v]; last == p {
			b.WriteByte('(')
		} else {
			finish(last, p, ',')
		}
	}
	finish(t.pre[len(t.pre)-1], -1, ';')
	return b.Flush()
}

// String returns the tree in Newick format, "" for a zero Tree: see
// [Tree.WriteNewick].
func (t *Tree) String() string {
	var s strings.Builder
	t.WriteNewick(&s) // a Builder never fails
	return s.String()
}

func quote(name string) string {
	for i := range len(name) {
		if !plain(name[i]) {
			return "'" + strings.ReplaceAll(name, "'", "''") + "'"
		}
	}
	return name
}
