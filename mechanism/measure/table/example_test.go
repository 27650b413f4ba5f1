package table_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

// A CSV file becomes synthetic rows, by names and not by codes: the schema is public,
// and all that is known of the values.
func Example() {
	var file, out strings.Builder // 3,000 private rows
	file.WriteString("city,joined,visits\n")
	for i := range 3000 {
		fmt.Fprintf(&file, "%s,2001-%02d-15,%s\n", []string{"Paris", "London", "Rome"}[i%3], 1+i%12, []string{"", "20", "41"}[i%3])
	}
	schema, err := table.ParseSchema("city:category:Paris|London|*elsewhere,joined:date:2000-01-01..2009-12-31,visits?:whole:0..100")
	check(err)
	var rows [][]float64
	for row, err := range schema.Read(strings.NewReader(file.String())) {
		check(err)
		rows = append(rows, row)
	}

	s, err := table.New(schema.Columns(), 1, nil)
	check(err)
	ctx, rng := context.Background(), random.Seeded(1) // nil for private data
	release, err := s.Release(ctx, rng, rows)
	check(err)
	synthetic, err := release.Records(ctx, rng, 0)
	check(err)
	check(schema.Write(&out, synthetic))
	fmt.Println(s.Guarantee())
	fmt.Println(strings.SplitN(out.String(), "\n", 2)[0])
	for _, city := range []string{"Paris", "elsewhere", "Rome"} {
		n := strings.Count(out.String(), "\n"+city+",2001-")
		fmt.Printf("%s in 2001: about %d thousand rows\n", city, (n+500)/1000)
	}
	// Output:
	// 1-private per record replaced
	// city,joined,visits
	// Paris in 2001: about 1 thousand rows
	// elsewhere in 2001: about 1 thousand rows
	// Rome in 2001: about 0 thousand rows
}

// What to expect is public: it takes the number of rows, and none of them.
func ExamplePlan() {
	schema := must(table.ParseSchema("age:whole:0..120,joined:date:2000-01-01..2009-12-31,city:category:Paris|London|*elsewhere,visits?:whole:0..100,member:category:yes|no"))
	for _, rows := range []int{300, 3_000, 300_000} {
		plan := must(table.Plan(schema.Columns(), rows, 1, nil))
		fmt.Printf("%d rows: %v\n", rows, plan)
	}
	// Output:
	// 300 rows: columns alone, to 17 %
	// 3000 rows: up to 3 pairs of columns, if any two depend by more than 39 %; columns to 5.6 %, and to 4.2 % where there are none
	// 300000 rows: up to 10 pairs of columns, if any two depend by more than 4.8 %; columns to 0.16 %, and to 0.05 % where there are none
}

func ExampleReadSchema() {
	schema := must(table.ReadSchema(strings.NewReader(`[
		{"name": "joined", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31"},
		{"name": "city", "kind": "category", "names": ["Paris", "London", "elsewhere"], "other": "elsewhere"},
		{"name": "visits", "kind": "whole", "lo": 0, "hi": 100, "missing": ["", "unknown"]}
	]`)))
	data := strings.NewReader("city,visits,joined,remark\nLondon,7,2001-09-03,x\nRome,unknown,2020-02-29,\n")
	for x, err := range schema.Read(data) {
		fmt.Println(x, err)
	}
	// Output:
	// [11568 1 7] <nil>
	// [18321 2 NaN] <nil>
}

// A file from a spreadsheet in Germany, and synthetic records as they look there.
func ExampleSchema_Separated() {
	schema := must(table.NewSchema([]table.Field{
		{Name: "Betrag", Column: domain.Column{Lo: 0, Hi: 5000}, Step: 0.01, Layout: "1.234,56 €"},
		{Name: "Datum", Column: domain.Column{Lo: 0, Hi: 36500}, Date: true, Layout: "02.01.2006"},
	}))
	schema = must(schema.Separated(';'))
	for x, err := range schema.Read(strings.NewReader("Datum;Betrag\n03.09.2001;1.234,5\n4.9.2001;7,00 €\n")) {
		fmt.Println(x, err)
	}
	check(schema.Write(os.Stdout, [][]float64{{4711.983, 11568}}))
	// Output:
	// [1234.5 11568] <nil>
	// [] table: Schema.Read: line 3: Datum: not a date as 02.01.2006: see Field.Layout
	// Betrag;Datum
	// 4.711,98 €;03.09.2001
}

func ExampleParseSchema() {
	schema := must(table.ParseSchema("age?:whole:0..120,city:category:Paris|London|*elsewhere,home:place:lat|lon"))
	for _, f := range schema.Fields() {
		fmt.Println(f.Name, f.Kind(), f.Lo, f.Hi, f.Names)
	}
	_, err := table.ParseSchema("age:whole:120..0")
	fmt.Println(err)
	// Output:
	// age whole 0 120 []
	// city category 0 0 [Paris London elsewhere]
	// home place 0 0 []
	// table: ParseSchema: field 1, "age": hi = 0, want a whole number in [Lo, 2^52], Lo = 120
}

// Whole numbers and steps make what is written look like what was read.
func ExampleNewSchema() {
	schema := must(table.NewSchema([]table.Field{
		{Name: "age", Column: domain.Column{Lo: 0, Hi: 120, Whole: true}},
		{Name: "price", Column: domain.Column{Lo: 0, Hi: 500, Share: 2}, Step: 0.05},
		{Name: "group", Names: []string{"A", "B"}},
	}))
	check(schema.Write(os.Stdout, [][]float64{{37.21, 12.5083, 1}}))
	// Output:
	// age,price,group
	// 37,12.50,B
}

func ExampleNew() {
	// Ages, incomes that grow with them, and one of three towns.
	rng := random.Seeded(1) // nil for private data
	var rows [][]float64
	for range 20_000 {
		age := 20 + 60*rng.Float64()
		rows = append(rows, []float64{age, 500*age + 5000*rng.NormFloat64(), math.Floor(3 * rng.Float64() * rng.Float64())})
	}
	s := must(table.New([]domain.Column{{Lo: 0, Hi: 100}, {Lo: 0, Hi: 1e5}, {Categories: 3}}, 1, nil))
	release := must(s.Release(context.Background(), rng, rows))
	synthetic := must(release.Records(context.Background(), rng, 0))
	fmt.Println(len(synthetic), "rows; released together:", release.Pairs())
	// Output:
	// 20000 rows; released together: [{0 1} {0 2}]
}

// Visits of patients, each of whom is protected with the first three of theirs.
func ExampleSynthesizer_ReleasePersons() {
	var file strings.Builder
	file.WriteString("patient,ward,days\n")
	for i := range 6000 {
		fmt.Fprintf(&file, "p%d,%s,%d\n", i/4, []string{"A", "B"}[i/4%2], 1+i/4%2*7+i%3)
	}
	schema := must(table.ParseSchema("ward:category:A|B,days:whole:0..30"))
	var rows []measure.Row[string, []float64]
	for row, err := range schema.ReadPersons(strings.NewReader(file.String()), "patient") {
		check(err)
		rows = append(rows, row)
	}
	s := must(table.New(schema.Columns(), 1, &table.Options{Relation: measure.AddRemoveOne, PerPerson: 3}))
	ctx, rng := context.Background(), random.Seeded(1) // nil for private data
	release := must(s.ReleasePersons(ctx, rng, rows))
	report, err := release.Report(ctx, rng, schema, 1)
	fmt.Print(report)
	fmt.Println(err)
	// Output:
	// 1-private per person added or removed, on tables of 2 columns, about 4519 rows
	// released together  strength  error
	// ward, days         48.5 %    2.2 %
	// by itself                    error
	// ward                         0.3 %
	// days                         1.0 %
	// <nil>
}

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
