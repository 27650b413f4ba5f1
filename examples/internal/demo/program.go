package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/metricdp/metricdp/internal/random"
)

// Program is one example program: the flags that all share, and the places it
// reads from and writes to.
type Program struct {
	Name  string
	Flags *flag.FlagSet // add the program's own before Parse
	Seed  uint64        // -seed
	In    string        // -in, where ReadsFile was called
	Quiet bool          // -quiet: no progress and no remarks; results are printed all the same
	Rough bool          // few dots an inch in PNG pictures, for tests of all else

	Stdin          io.Reader
	Stdout, Stderr io.Writer

	secure bool // see Secure
	args   []string
	out    string // -out, or the temporary folder once there is one
	bar    *bar   // the last one drawn, or nil
	lost   error  // of the first table that could not be printed
}

// Main runs an example and ends the process: status 0, or 2 with the error of
// run in one line, or 130 after an interrupt, at which the context is done.
func Main(name string, run func(ctx context.Context, p *Program) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := Run(ctx, name, os.Args[1:], os.Stdout, os.Stderr, run)
	stop()
	os.Exit(status)
}

// Run is [Main] with all that it takes from the process as arguments, for
// tests.
func Run(ctx context.Context, name string, args []string, stdout, stderr io.Writer,
	run func(ctx context.Context, p *Program) error) int {
	p := &Program{
		Name:   name,
		Flags:  flag.NewFlagSet(name, flag.ContinueOnError),
		Stdin:  os.Stdin,
		Stdout: stdout,
		Stderr: stderr,
		args:   args,
	}
	p.Flags.SetOutput(io.Discard) // errors are ours to print, in one line
	p.Flags.Uint64Var(&p.Seed, "seed", 1, "seed of the random numbers; the same seed gives the same output")
	p.Flags.StringVar(&p.out, "out", "", "`DIR` for the files written (default a new temporary one)")
	p.Flags.BoolVar(&p.Quiet, "quiet", false, "no progress bar, no remarks")

	err := run(ctx, p)
	switch err = cmp.Or(err, p.lost); {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, "Usage of %s:\n", name)
		p.Flags.SetOutput(stdout)
		p.Flags.PrintDefaults()
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return 130 // 128 + SIGINT, as shells report it
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
	return 2 // as the flag package has it for bad flags
}

// ReadsFile adds the flag -in; what describes the file, as in "CSV with the
// columns lat and lon".
func (p *Program) ReadsFile(what string) {
	p.Flags.StringVar(&p.In, "in", "", "read `FILE`: "+what+" (default: the data that ships with the example)")
}

// Secure is for programs whose output is meant to be published: without -seed,
// [Program.Rand] is secure and no run repeats.
func (p *Program) Secure() {
	p.secure = true
	f := p.Flags.Lookup("seed")
	f.DefValue = "0" // not shown
	f.Usage = "repeat the random numbers, for tests: whoever knows the seed can undo what is private (default none)"
}

// Rand is the generator of -seed, or nil, which is secure: see [Program.Secure].
func (p *Program) Rand() *rand.Rand {
	given := !p.secure
	p.Flags.Visit(func(f *flag.Flag) { given = given || f.Name == "seed" })
	if !given {
		return nil
	}
	return random.Seeded(p.Seed)
}

// Parse reads the command line. It refuses arguments that are not flags, and a
// folder of -out that cannot be written: better before the work than after it.
func (p *Program) Parse() error {
	if err := p.Flags.Parse(p.args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (-help lists the flags)", err)
	}
	if p.Flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q (-help lists the flags)", p.Flags.Arg(0))
	}
	if p.out == "" {
		return nil
	}
	if err := p.writable(); err != nil {
		return fmt.Errorf("-out %s: %w", p.out, err)
	}
	return nil
}

// writable creates the folder of -out where there is none, and a file in it for
// a moment.
func (p *Program) writable() error {
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(p.out, p.Name+"-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Folder is that of -out, or the temporary one once there is one, or "".
func (p *Program) Folder() string { return p.out }

// Input opens the file of -in, or the embedded data, for the caller to close,
// and returns the name to use in messages.
func (p *Program) Input(embeddedName string, embedded []byte) (f io.ReadCloser, name string, err error) {
	return Open(p.In, embeddedName, embedded)
}

// Open is [Program.Input] for the file of another flag.
func Open(file, embeddedName string, embedded []byte) (f io.ReadCloser, name string, err error) {
	if file == "" {
		return io.NopCloser(bytes.NewReader(embedded)), embeddedName, nil
	}
	f, err = os.Open(file)
	return f, file, err
}

// Print prints a table on the standard output. [Run] reports its error.
func (p *Program) Print(t *Table) { p.lost = cmp.Or(p.lost, t.WriteText(p.Stdout)) }

// PrintSoFar prints the rows that it has not printed yet; more will come.
func (p *Program) PrintSoFar(t *Table) { p.lost = cmp.Or(p.lost, t.write(p.Stdout, 9, 12)) }

// WriteFile creates a file in the folder of -out, or in a new temporary one, and
// passes it to write, buffered. It says what it wrote unless -quiet. After an error
// there is no file.
func (p *Program) WriteFile(file string, write func(w io.Writer) error) (err error) {
	if p.out == "" {
		if p.out, err = os.MkdirTemp("", p.Name+"-"); err != nil {
			return err
		}
		// Not a remark: nothing else tells where the files are.
		fmt.Fprintf(p.Stdout, "files go to %s\n", p.out)
	}
	path := filepath.Join(p.out, file)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(path)
		}
	}()
	b := bufio.NewWriter(f)
	if err := write(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := b.Flush(); err != nil {
		return err
	}
	p.Remark("wrote %s", path)
	return nil
}

// WriteCharts is [Program.WriteFile] for charts side by side, in the format of
// the file's extension.
func (p *Program) WriteCharts(file string, charts ...*Chart) error {
	return p.WriteFile(file, func(w io.Writer) error {
		return writeCharts(w, strings.TrimPrefix(filepath.Ext(file), "."), p.dpi(), charts...)
	})
}

// WritePicture is [Program.WriteFile] for a picture of that size, which paint draws
// on white, in the format of the file's extension.
func (p *Program) WritePicture(file string, width, height vg.Length, paint func(draw.Canvas)) error {
	return p.WriteFile(file, func(w io.Writer) error {
		return writePicture(w, strings.TrimPrefix(filepath.Ext(file), "."), p.dpi(), width, height, paint)
	})
}

// dpi is how many dots an inch of a PNG has.
func (p *Program) dpi() int {
	if p.Rough {
		return pictureDPI / 10
	}
	return pictureDPI
}

// Remark prints one line on the standard output unless -quiet, and wipes the
// progress bar first.
func (p *Program) Remark(format string, args ...any) {
	if !p.Quiet {
		if p.bar != nil {
			p.bar.clear() // or the line would go on where the bar ends
		}
		fmt.Fprintf(p.Stdout, format+"\n", args...)
	}
}
