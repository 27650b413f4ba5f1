// Package demo is what the example programs share: flags and exit status,
// comparisons of mechanisms, tables for the terminal and for CSV, pictures, and a
// progress bar.
//
// An example is a function run by [Main]:
//
//	func main() { demo.Main("location", run) }
//
//	func run(ctx context.Context, p *demo.Program) error {
//		alpha := p.Flags.Float64("alpha", 0.05, "privacy level, per km")
//		if err := p.Parse(); err != nil {
//			return err
//		}
//		...
//	}
package demo
