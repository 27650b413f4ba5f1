package metric

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

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
// follow. Nodes are numbered in the order they begin: preorder.
//
// A name is plain, as it stands, underscores included, or in single quotes,
// with two for one. Control characters, line breaks among them, marks of the
// direction of text and bytes that are no UTF-8 stand in no name. Blanks, and
// comments in square brackets, nested or not, may stand between any two tokens.
// A node may have any number of children, and none or one; names may be missing
// and may repeat. Lengths are decimal numbers in [0, 1e300]. Where no edge has a
// length all are 1; where some have and some have not it is an error. The
// root's length is optional and 0 if missing.
//
// The error is a [*SyntaxError], a [*SizeError] beyond 2^28 bytes or 2^24 nodes, or
// that of r. Those take about 2.5 GB of memory; wrap r in an [io.LimitedReader]
// for less.
func ParseNewick(r io.Reader) (*Tree, error) {
	p := newickParser{r: bufio.NewReader(r), maxBytes: maxNewickBytes, maxNodes: maxNewickNodes, line: 1}
	if err := p.tree(); err != nil {
		return nil, err
	}
	return newTree(newickOp, p.parent, p.length, p.names)
}

const newickOp = "metric: ParseNewick"

type newickParser struct {
	r                  *bufio.Reader
	maxBytes, maxNodes int

	bytes        int // read
	line, column int // of the last byte read
	newline      bool
	buf          []byte

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

// tree parses to the semicolon and the end. The stack of open nodes is the way
// up from node v.
func (p *newickParser) tree() error {
	if err := p.begin(-1); err != nil {
		return err
	}
	v, state := 0, begun
	for {
		c, err := p.token()
		if err == io.EOF {
			return p.errorf("the text ends, want ';'")
		}
		if err != nil {
			return err
		}
		switch {
		case c == ';' && v == 0:
			return p.end()
		case c == '(' && state == begun:
			err = p.begin(v)
			v = len(p.parent) - 1
		case (c == ',' || c == ')') && v > 0:
			err = p.edge(state == done)
			v, state = p.parent[v], closed
			if c == ',' && err == nil {
				err = p.begin(v)
				v, state = len(p.parent)-1, begun
			}
		case c == ':' && state < done:
			p.length[v], err = p.number()
			state = done
		case (c == '\'' || plain(c)) && state < named:
			p.names[v], err = p.name(c)
			state = named
		case c == ';':
			err = p.errorf("';' before all parentheses are closed")
		case (c == ',' || c == ')') && v == 0:
			err = p.errorf("%q outside parentheses", c)
		default:
			err = p.errorf("unexpected %q%s", []byte{c}, afterState[state])
		}
		if err != nil {
			return err
		}
	}
}

// begin appends a node.
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
func (p *newickParser) edge(hasLength bool) error {
	this := withoutLength
	if hasLength {
		this = withLength
	}
	if p.edges == "" {
		p.edges = this
	}
	if this != p.edges {
		return p.errorf("an edge %s, where those before are %s", this, p.edges)
	}
	return nil
}

// end checks that nothing follows the semicolon.
func (p *newickParser) end() error {
	switch c, err := p.token(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	default:
		return p.errorf("unexpected %q after ';'", []byte{c})
	}
}

func (p *newickParser) number() (float64, error) {
	c, err := p.token()
	if err == io.EOF || err == nil && !plain(c) {
		return 0, p.errorf("no number after ':'")
	}
	if err != nil {
		return 0, err
	}
	line, column := p.line, p.column
	s, err := p.word(c)
	if err != nil {
		return 0, err
	}
	x, err := fault.Decimal(s)
	if err != nil || !(x >= 0 && x <= maxMagnitude) {
		return 0, &SyntaxError{line, column, fmt.Sprintf("length %.40q, want a number in [0, 1e300]", s)}
	}
	return x, nil
}

// name reads on from the quote or the plain byte c.
func (p *newickParser) name(c byte) (s string, err error) {
	line, column, quoted := p.line, p.column, c == '\''
	if quoted {
		s, err = p.quoted()
	} else {
		s, err = p.word(c)
	}
	if err != nil {
		return "", err
	}
	if at, what := fault.Text(s); at >= 0 {
		if quoted { // it begins after the quote, and a quote in it takes two
			column += 1 + strings.Count(s[:at], "'")
		}
		return "", &SyntaxError{line, column + at, fmt.Sprintf("the name %.40q has %s", s, what)}
	}
	return s, nil
}

// word reads on from the plain byte c.
func (p *newickParser) word(c byte) (string, error) {
	p.buf = append(p.buf[:0], c)
	for {
		c, err := p.peek()
		if err != nil {
			return "", err
		}
		if !plain(c) {
			return string(p.buf), nil
		}
		if c, err = p.next(); err != nil {
			return "", err
		}
		p.buf = append(p.buf, c)
	}
}

// quoted reads on from an opening quote.
func (p *newickParser) quoted() (string, error) {
	line, column := p.line, p.column
	p.buf = p.buf[:0]
	for {
		c, err := p.next()
		if err == io.EOF {
			return "", &SyntaxError{line, column, "a quote that is not closed"}
		}
		if err != nil {
			return "", err
		}
		if c == '\'' {
			if c, err = p.peek(); err != nil {
				return "", err
			}
			if c != '\'' {
				return string(p.buf), nil
			}
			if c, err = p.next(); err != nil {
				return "", err
			}
		}
		p.buf = append(p.buf, c)
	}
}

// token skips blanks and comments and returns the byte after, or io.EOF.
func (p *newickParser) token() (byte, error) {
	for {
		c, err := p.next()
		switch {
		case err != nil:
			return 0, err
		case c == '[':
			if err := p.comment(); err != nil {
				return 0, err
			}
		case !blank(c):
			return c, nil
		}
	}
}

// comment reads on from an opening bracket.
func (p *newickParser) comment() error {
	line, column := p.line, p.column
	for open := 1; open > 0; {
		c, err := p.next()
		switch {
		case err == io.EOF:
			return &SyntaxError{line, column, "a comment that is not closed"}
		case err != nil:
			return err
		case c == '[':
			open++
		case c == ']':
			open--
		}
	}
	return nil
}

// next reads a byte. At the end it returns io.EOF itself.
func (p *newickParser) next() (byte, error) {
	if p.newline {
		p.line, p.column = p.line+1, 0
	}
	p.column++
	c, err := p.r.ReadByte()
	p.newline = err == nil && c == '\n'
	switch {
	case err == io.EOF:
		return 0, io.EOF
	case err != nil:
		return 0, fmt.Errorf("%s: %w", newickOp, err)
	case p.bytes == p.maxBytes:
		return 0, &SizeError{Op: newickOp, Arg: "text", Got: p.bytes + 1, Want: fmt.Sprintf("at most %d bytes", p.maxBytes)}
	}
	p.bytes++
	return c, nil
}

// peek returns the byte that next will read, and a blank at the end.
func (p *newickParser) peek() (byte, error) {
	b, err := p.r.Peek(1)
	switch {
	case err == io.EOF:
		return ' ', nil
	case err != nil:
		return 0, fmt.Errorf("%s: %w", newickOp, err)
	}
	return b[0], nil
}

func (p *newickParser) errorf(format string, args ...any) error {
	return &SyntaxError{p.line, p.column, fmt.Sprintf(format, args...)}
}

func blank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// plain reports whether c may stand in a name without quotes.
func plain(c byte) bool { return !blank(c) && strings.IndexByte("()[]':;,", c) < 0 }

// WriteNewick writes the tree in Newick format, names in quotes where they need
// them, lengths in full. [ParseNewick] reads it back with the same names and
// lengths, bit for bit, and the nodes numbered in preorder. O(n).
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
	last := -1 // the node before v
	for _, v := range t.pre {
		switch p := t.parent[v]; {
		case p < 0:
		case last == p:
			b.WriteByte('(')
		default:
			// Close what lies between the last leaf and the sibling of v.
			for ; t.parent[last] != p; last = t.parent[last] {
				label(last)
				b.WriteByte(')')
			}
			label(last)
			b.WriteByte(',')
		}
		last = v
	}
	for ; last != t.root; last = t.parent[last] {
		label(last)
		b.WriteByte(')')
	}
	label(t.root)
	b.WriteString(";")
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
