package table

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
)

// Malformed counts rows that cannot be read. The number is exact, so it is not
// private: it belongs to those who may see the data.
var Malformed = beam.NewCounter("metricdp", "malformed")

// Job is where a program gets its noise and puts its output.
type Job struct {
	Output  string
	KeyFile string
	Seed    int64
}

// Flags defines the flags of a job; name is the file of the output by default.
func (j *Job) Flags(name string) {
	flag.StringVar(&j.Output, "output", "", "CSV to write, on any file system that Beam knows (default: "+name+" in a new folder under the system's temporary one)")
	flag.StringVar(&j.KeyFile, "key_file", "", "new file, where the workers can read it, for the key of the noise; without one the key is part of the pipeline, which runners store and may log")
	flag.Int64Var(&j.Seed, "seed", -1, "rehearse with noise that repeats, in place of a release: whoever knows the seed knows the noise")
}

// Prepare chooses the output and draws the key.
func (j *Job) Prepare(ctx context.Context, name string) (privatebeam.Options, error) {
	var o privatebeam.Options
	switch {
	case j.Output == "" && !Local():
		return o, fmt.Errorf("--output is missing: with --runner=%s it has to be where the workers can write", *runners.Runner)
	case j.Seed >= 0 && j.KeyFile != "":
		return o, errors.New("--seed makes the noise repeat, and --key_file makes sure that it does not: want one of them")
	case j.Seed < 0 && j.KeyFile == "" && strings.Contains(strings.ToLower(*runners.Runner), "dataflow"):
		return o, errors.New("--key_file is missing: Dataflow's launcher logs the pipeline, and with it a key inside")
	}
	if j.Output == "" {
		dir, err := os.MkdirTemp("", "metricdp-beam-")
		if err != nil {
			return o, err
		}
		j.Output = filepath.Join(dir, name)
	}
	if j.Seed >= 0 {
		o.Key = privatebeam.SeededKey(uint64(j.Seed))
	}
	if j.KeyFile != "" {
		o.KeyFile = j.KeyFile
		return o, privatebeam.NewKeyFile(ctx, j.KeyFile)
	}
	return o, nil
}

// Local reports whether the workers see the files of this machine.
func Local() bool {
	switch r := strings.ToLower(*runners.Runner); r {
	case "", "prism", "prismrunner":
		return true
	default:
		return r == "direct"
	}
}

// Run runs a pipeline with the runner of --runner and tells of malformed rows.
func (j *Job) Run(ctx context.Context, p *beam.Pipeline, w io.Writer) error {
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	if n := count(result); n > 0 {
		fmt.Fprintf(w, "Malformed rows: %d. This number is exact and not private: keep it with the data.\n", n)
	}
	fmt.Fprintf(w, "Written: %s\n", j.Output)
	return nil
}

func count(result beam.PipelineResult) (n int64) {
	if result == nil { // some runners have none
		return 0
	}
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Name() == "malformed" {
			n += c.Result()
		}
	}
	return n
}

// Main is the main function of a program. Its status is 2 for bad input and 1
// for a pipeline that failed.
func Main(name string, prepare func(ctx context.Context) (*beam.Pipeline, error), j *Job) {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: %q is not a flag: data are named by --input; --help lists the flags\n", name, flag.Arg(0))
		os.Exit(2)
	}
	beam.Init()
	ctx := context.Background()
	p, err := prepare(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(2)
	}
	if err := j.Run(ctx, p, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
