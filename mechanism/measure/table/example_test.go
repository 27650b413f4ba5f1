package table_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/metricdp/metricdp/mechanism/measure/table"
)

func ExampleReadSchema() {
	schema, err := table.ReadSchema(strings.NewReader(`[
		{"name": "joined", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31"},
		{"name": "city", "kind": "category", "names": ["Paris", "London", "elsewhere"], "other": "elsewhere"},
		{"name": "visits", "kind": "whole", "lo": 0, "hi": 100, "missing": ["", "unknown"]}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	data := strings.NewReader("city,visits,joined,remark\nLondon,7,2001-09-03,x\nRome,unknown,2020-02-29,\n")
	var records [][]float64
	for x, err := range schema.Read(data) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(x)
		records = append(records, x)
	}
	if err := schema.Write(os.Stdout, records); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [11568 1 7]
	// [18321 2 NaN]
	// joined,city,visits
	// 2001-09-03,London,7
	// 2020-02-29,elsewhere,
}

func ExampleParseSchema() {
	schema, err := table.ParseSchema("age?:whole:0..120,city:category:Paris|London|*elsewhere,home:place:lat|lon")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range schema.Fields() {
		fmt.Println(f.Name, f.Kind, f.Lo, f.Hi, f.Names)
	}
	_, err = table.ParseSchema("age:whole:120..0")
	fmt.Println(err)
	// Output:
	// age whole 0 120 []
	// city category 0 0 [Paris London elsewhere]
	// home place 0 0 []
	// table: ParseSchema: field 1, "age": lo = 120 and hi = 0, want lo < hi, of at most 1e+90, and not closer than 1e-90
}

func ExampleNewSchema() {
	schema, err := table.NewSchema([]table.Field{
		{Name: "height", Kind: table.Number, Lo: 0.5, Hi: 2.5},
		{Name: "group", Kind: table.Category, Names: []string{"A", "B"}, Weight: 0.5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range schema.Columns() {
		fmt.Println(c.Lo, c.Hi, c.Categories, c.Weight)
	}
	// Output:
	// 0.5 2.5 0 0.5
	// 0 0 2 0.5
}
