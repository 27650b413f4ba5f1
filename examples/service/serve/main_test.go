package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/metricdp/metricdp/examples/service"
	"github.com/metricdp/metricdp/examples/service/internal/pgtest"
	"github.com/metricdp/metricdp/internal/testkit"
)

// The test's own program is the server too.
func TestMain(m *testing.M) {
	if os.Getenv("METRICDP_SERVE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a server in a process of its own.
type process struct {
	*exec.Cmd
	url string
	log string // the file
}

// start starts a server that listens on any port.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], append([]string{"-addr", "127.0.0.1:0"}, args...)...)}
	p.Env = append(append(os.Environ(), "METRICDP_SERVE=1"), env...)
	log := testkit.Must(os.CreateTemp(t.TempDir(), "log"))
	defer log.Close()
	p.Stderr, p.log = log, log.Name()
	testkit.Check(t, p.Start())
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	var line struct{ Addr string }
	testkit.Check(t, json.Unmarshal(p.says(t, "listening"), &line))
	p.url = "http://" + line.Addr
	return p
}

// says waits for a line of the log.
func (p *process) says(t *testing.T, what string) []byte {
	t.Helper()
	for range 1000 {
		text := testkit.Must(os.ReadFile(p.log))
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(what)) && bytes.HasSuffix(line, []byte("\n")) {
				return line
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the log says no %q", what)
	return nil
}

type reply struct {
	status int
	Answer struct{ Lat, Lon float64 }
	Budget service.Account
}

// ask asks for the place of a number.
func (p *process) ask(user, n int) (r reply, err error) {
	body := fmt.Sprintf(`{"lat": %d, "lon": 7}`, n)
	req, err := http.NewRequest("POST", p.url+"/v1/place", strings.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-User", fmt.Sprint("user ", user))
	res, err := client.Do(req)
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	r.status = res.StatusCode
	return r, json.NewDecoder(res.Body).Decode(&r)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}, Timeout: 30 * time.Second}

// Fifty clients ask two servers of one database, and one of the servers is killed: no user
// gets more answers than a day allows, no input has two answers, and what was spent stays
// spent, also for servers that start later.
func TestServe_Killed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds")
	}
	t.Run("sqlite", func(t *testing.T) { killed(t, nil, "-data", filepath.Join(t.TempDir(), "data")) })
	t.Run("postgres", func(t *testing.T) {
		killed(t, []string{"METRICDP_POSTGRES=" + pgtest.Start(t).Source}, "-postgres")
	})
}

const (
	clients = 50
	users   = 10 // five clients each
	inputs  = 60 // of each user
	limit   = 40
	alpha   = 4
)

func killed(t *testing.T, env []string, args ...string) {
	args = append(args, "-places", fmt.Sprint(limit), "-place-alpha", fmt.Sprint(alpha))
	servers := []*process{start(t, env, args...), start(t, env, args...)}
	var (
		mu      sync.Mutex
		answers [users]map[int]reply
		status  = map[int]int{}
		broken  int // requests that the death of the server ended
		kill    sync.Once
		all     sync.WaitGroup
	)
	for u := range answers {
		answers[u] = map[int]reply{}
	}
	// note checks a reply against all earlier ones. before is how many answers the user had
	// when it was asked for.
	note := func(user, n, before int, r reply) {
		mu.Lock()
		defer mu.Unlock()
		status[r.status]++
		old, had := answers[user][n]
		switch {
		case r.status == 200 && !had:
			answers[user][n] = r
		case r.status == 200 && r.Answer != old.Answer, r.status == 429 && had, r.status == 409 && had:
			t.Errorf("user %d, input %d: first %+v, then %+v", user, n, old, r)
		case r.status != 200 && r.status != 409 && r.status != 429:
			t.Errorf("user %d, input %d: %+v", user, n, r)
		}
		if r.status != 409 && (r.Budget.Spent < float64(alpha*before) || r.Budget.Spent > alpha*limit || r.Budget.Spent+r.Budget.Left != alpha*limit) {
			t.Errorf("user %d, who has %d answers: %+v", user, before, r)
		}
	}
	count := func(user int) int {
		mu.Lock()
		defer mu.Unlock()
		return len(answers[user])
	}
	begin := time.Now()
	for c := range clients {
		all.Go(func() {
			user, rng := c%users, rand.New(rand.NewPCG(1, uint64(c)))
			first := rng.IntN(2)
			for i, n := range rng.Perm(inputs) {
				before := count(user)
				r, err := servers[(first+i)%2].ask(user, n)
				if err != nil {
					mu.Lock()
					if !errors.Is(err, syscall.ECONNREFUSED) {
						broken++
					}
					mu.Unlock()
					if r, err = servers[1].ask(user, n); err != nil {
						t.Error(err)
						return
					}
				}
				note(user, n, before, r)
				mu.Lock()
				given := 0
				for _, a := range answers {
					given += len(a)
				}
				mu.Unlock()
				if given >= users*limit/3 {
					kill.Do(func() { servers[0].Process.Kill(); servers[0].Wait() })
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begin)

	for _, s := range servers {
		if log, err := os.ReadFile(s.log); err != nil || bytes.Count(log, []byte(`"route":"POST /v1/place"`)) < 10 || bytes.Contains(log, []byte("user ")) {
			t.Errorf("%v, or the log has too few lines or a user: %.300s", err, log)
		}
	}

	// The other one and a new one know all of it.
	servers[0] = start(t, env, args...)
	sum, lost := 0, 0
	for user := range users {
		for _, s := range servers {
			had := count(user)
			for n := range inputs {
				r := testkit.Must(s.ask(user, n))
				note(user, n, had, r)
			}
		}
		r, err := servers[0].ask(user, -1)
		if err != nil || r.status != 429 || r.Budget.Spent != alpha*limit {
			t.Errorf("user %d: a place more: %+v, %v", user, r, err)
		}
		if n := count(user); n > limit {
			t.Errorf("user %d got %d answers", user, n)
		}
		sum += count(user)
		lost += limit - count(user)
	}
	if lost > broken {
		t.Errorf("%d answers lost by %d broken requests", lost, broken)
	}
	t.Logf("%d requests in %v, %d ended by the kill; %d answers of at most %d, %d paid and lost with the process; statuses %v",
		clients*inputs, took.Round(time.Millisecond), broken, sum, users*limit, lost, status)
}

// At SIGTERM a server ends the requests that it has, takes no others, and exits with status 0.
func TestServe_Drains(t *testing.T) {
	p := start(t, nil, "-data", filepath.Join(t.TempDir(), "data"))
	if r, err := p.ask(0, 1); err != nil || r.status != 200 {
		t.Fatal(r, err)
	}
	conn := testkit.Must(net.Dial("tcp", strings.TrimPrefix(p.url, "http://")))
	defer conn.Close()
	body := `{"lat": 1, "lon": 7}`
	fmt.Fprintf(conn, "POST /v1/place HTTP/1.1\r\nHost: x\r\nX-User: user 0\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // the handler reads
		t.Fatal(line, err)
	}
	in.ReadString('\n')
	testkit.Check(t, p.Process.Signal(syscall.SIGTERM))
	p.says(t, "stopping")
	io.WriteString(conn, body)
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != 200 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if log, _ := os.ReadFile(p.log); bytes.Contains(log, []byte("ERROR")) {
		t.Errorf("%s", log)
	}
	if _, err := p.ask(0, 1); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v", err)
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Setenv("METRICDP_POSTGRES", "host=/nonexistent user=metricdp password=hunter2")
	cases := [][]string{{"-places", "-1", "-data", t.TempDir()}, {"place"}, {"-postgres"}, {"-data", "/dev/null"}}
	for _, name := range []string{"-place-alpha", "-place-cell", "-places", "-word-alpha", "-words", "-requests"} {
		cases = append(cases, []string{name, "0", "-addr", "nowhere", "-data", filepath.Join(t.TempDir(), "data")})
	}
	for _, args := range cases {
		err := run(context.Background(), slog.New(slog.DiscardHandler), args)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "listen") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
