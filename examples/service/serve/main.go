// Serve runs the handler of package service on a database.
//
//	go run ./serve
//	METRICDP_POSTGRES=postgres://... go run ./serve -postgres
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/metricdp/metricdp/examples/service"
	"github.com/metricdp/metricdp/examples/service/sqlstore"
)

// drain is how long requests may take to end after the signal to stop.
const drain = 20 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if err := run(ctx, log, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Error("serve", "error", err.Error())
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, log *slog.Logger, args []string) (err error) {
	var o service.Options
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := f.String("addr", "127.0.0.1:8080", "where to listen")
	dir := f.String("data", "data", "the folder of the SQLite database, made where it is not there")
	postgres := f.Bool("postgres", false, "PostgreSQL instead, at the URL in the variable METRICDP_POSTGRES")
	header := f.String("user-header", "X-User", "the header that names the user, set by what authenticates in front")
	f.Float64Var(&o.PlaceAlpha, "place-alpha", 4, "the level of a place, per km")
	f.Float64Var(&o.PlaceCell, "place-cell", 0.05, "the radius of the cells of which places share one answer, in km")
	f.IntVar(&o.Places, "places", 20, "new places of a user a day")
	f.Float64Var(&o.WordAlpha, "word-alpha", 1, "the level of a word, per unit of distance")
	f.IntVar(&o.Words, "words", 50, "new words of a user a day")
	f.IntVar(&o.Requests, "requests", 128, "requests at once")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q: there are flags alone", f.Args())
	}
	// To package service 0 is the default: who forbids places by -places 0 must not get 20.
	if !(o.PlaceAlpha > 0 && o.PlaceCell > 0 && o.Places > 0 && o.WordAlpha > 0 && o.Words > 0 && o.Requests > 0) {
		return errors.New("want levels, cells and numbers > 0")
	}
	var store *sqlstore.Store
	if *postgres {
		store, err = sqlstore.Postgres(ctx, os.Getenv("METRICDP_POSTGRES"))
	} else {
		store, err = sqlstore.SQLite(ctx, *dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	o.Store, o.User, o.Log = store, service.Header(*header), log
	handler, err := service.New(ctx, o)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(quiet{log.Handler()}, slog.LevelWarn),
	}
	log.Info("listening", "addr", listener.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping")
	last, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	return server.Shutdown(last)
}

// quiet is a log of net/http without its messages, which may hold addresses and parts of
// requests.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	return q.Handler.Handle(ctx, slog.NewRecord(r.Time, r.Level, "net/http: a connection failed", 0))
}
