package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/metricdp/metricdp/internal/csvfile"
)

// table is the filtering of one CSV file.
type table struct {
	*job
	out      *csv.Writer
	lat, lon int   // the columns of a place
	source   []int // of each column of the output, that of the input; -1: a stated one
	line     []string
	tracks   map[string]*places // by the text of the column of -track
}

// csv filters a CSV file: a place is a row, with the columns lat and lon. Columns
// behind the others state the level, in a track that of the rows so far.
func (j *job) csv(r io.Reader) error {
	if j.settings.ends > 0 {
		return fmt.Errorf("%s: -ends: a table has none", j.name)
	}
	t := &table{job: j, out: csv.NewWriter(j.w), tracks: map[string]*places{}}
	columns := csvfile.Columns{Place: true, AnyLength: true}
	if t.column != "" {
		columns.Required = []string{t.column}
	}
	if j.skip {
		columns.Skip = func(err error) { _ = j.bad(err) }
	}
	var failed error
	err := csvfile.Read(j.name, r, columns, func(row *csvfile.Row) {
		if t.source == nil {
			failed = t.header(row)
		}
		if failed == nil {
			failed = t.row(row)
		}
		if failed != nil {
			row.Stop()
		}
	})
	for _, track := range t.tracks {
		j.ends(track)
	}
	if err == nil {
		err = failed
	}
	if err == nil && t.source == nil {
		err = &csvfile.Error{File: j.name, Reason: "no rows"}
	}
	if err != nil {
		return err
	}
	t.out.Flush()
	return t.out.Error()
}

// header writes the names of the columns, before the first row.
func (t *table) header(row *csvfile.Row) error {
	t.lat, t.lon = row.Position("lat"), row.Position("lon")
	for k, name := range row.Header() {
		if t.keeps(name) || k == t.lat || k == t.lon || t.column != "" && strings.EqualFold(name, t.column) {
			t.source = append(t.source, k)
			t.line = append(t.line, name)
		}
	}
	stated := []string{"alpha_per_km"}
	if t.column != "" {
		stated = append(stated, "places", "total_per_km")
	}
	if t.merge != noCell {
		stated = append(stated, "merged_s2_level")
	}
	if t.cell != noCell {
		stated = append(stated, "s2_cell")
	}
	for _, name := range stated {
		if slices.Contains(t.line, name) {
			return fmt.Errorf("%s: the column %.40q is there already: leave it out of -keep", t.name, name)
		}
		t.line = append(t.line, name)
	}
	return t.out.Write(t.line)
}

func (t *table) row(row *csvfile.Row) error {
	x := row.LatLon()
	if row.Err() != nil {
		return nil
	}
	track := t.all
	if t.column != "" {
		name := row.Text(t.column)
		if track = t.tracks[name]; track == nil {
			if len(t.tracks) == maxSeen {
				return fmt.Errorf("%s: more than %d tracks", t.name, maxSeen)
			}
			track = t.track()
			t.tracks[strings.Clone(name)] = track
		}
	}
	t.features++
	y, err := t.release(x, track)
	if err != nil {
		return err
	}
	t.line = t.line[:0]
	for _, k := range t.source {
		field := row.Fields()[k]
		switch k {
		case t.lat:
			field = string(degrees(nil, y.Lat))
		case t.lon:
			field = string(degrees(nil, y.Lon))
		}
		t.line = append(t.line, field)
	}
	t.line = append(t.line, strconv.FormatFloat(t.alpha, 'g', -1, 64))
	if t.column != "" {
		t.line = append(t.line, strconv.Itoa(track.n), strconv.FormatFloat(t.total(track), 'g', -1, 64))
	}
	if t.merge != noCell {
		t.line = append(t.line, strconv.Itoa(t.merge))
	}
	if t.cell != noCell {
		t.line = append(t.line, cell(y, t.cell).ToToken())
	}
	return t.out.Write(t.line)
}
