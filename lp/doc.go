// Package lp computes optimal mechanisms on finite spaces by linear programming,
// with a proof of how good they are.
//
// # The program
//
// A mechanism on n points that releases one of m outputs is a matrix M, one row
// of probabilities per input. alpha-privacy under the metric rho1 and the
// expected loss under rho2 are linear in it, so the least worst-case loss is a
// linear program (OPTMech of IKWAT22):
//
//	minimize k
//	sum_w rho2(u,w) M[u,w] <= k                  for every input u
//	M[u,w] <= exp(alpha*rho1(u,v)) M[v,w]        for all inputs u, v, outputs w
//	sum_w M[u,w] = 1, M >= 0.
//
// On a finite bimetric space Z its optimum is the optimal accuracy A(Z, alpha) of
// BSV24. [Options].Prior asks for the least mean loss instead (BCP14), and
// [Options].Outputs for other outputs than the inputs.
//
// There are n*m unknowns and n^2*m constraints ([Options.Size] counts them, those
// of the other options those of other programs). General solvers give up at some
// 75 points, or return wrong answers where alpha*rho1 is large. [Optimal] is an
// interior point method that eliminates one output after another: outputs are tied
// to each other only through the n row sums and the n losses. On the shortest-path
// metric of a graph the constraints of its edges imply all others, and the factors
// are sparse. Elsewhere every output begins with the constraints of near inputs,
// and those that the solution breaks are added. Each of these relaxations proves a
// bound, and is turned into a private channel by the least private matrix above it
// and a mixture that mends its rows.
//
// # The certificate
//
// The proof does not rest on the solver's tolerances. For multipliers lambda >=
// 0 of the privacy constraints and weights z >= 0 of the losses, sum 1, every
// private channel satisfies
//
//	k >= sum_u z_u sum_w rho2(u,w) M[u,w] >= sum_u min_w c_w[u],
//
// c_w[u] being z_u rho2(u,w) less what lambda counts at (u,w): the constraints
// make that part >= 0 in all, and a row of M, whose entries sum to 1, cannot do
// better than the least cost. The right-hand side is [Solution].DualBound,
// evaluated with outward rounding for whatever lambda and z the solver ended
// with. z is the least favorable prior: an adversary who draws inputs from it
// causes at least that loss, whichever alpha-private mechanism is used.
//
// # The repair
//
// The solver's matrix meets its constraints up to rounding only. It is mixed
// with just as much of the uniform distribution as makes all of them hold,
// usually none, and audited by [mechanism.Channel.Certify]: the guarantee is
// the audited upper end, at most alpha. [Solution].Objective is the loss of
// that channel, rounded up. The optimum lies in [DualBound, Objective].
//
// # The level for a utility
//
// [MostPrivate] asks the other way round: for the least level at which some mechanism
// misses by more than gamma with probability at most delta, eps*(gamma, delta) of KL10.
// [LevelLowerBound] bounds it from below, without a program.
//
// # Time and memory
//
// Every function that takes ctx ends within half a second once it is done: with
// the best mechanism so far, which is private and audited, and an error that
// wraps the context's, so that both results are set. The result is nil only
// where the distances could not be read by a fifth of a second after that. A
// TimeLimit ends the search without an error; what was found by then is made
// private and audited before the return, under a second for 400 inputs and some
// 10 seconds for 1,000.
//
// Times are those of two cores. [Optimal] on points of the plane takes 0.2 s
// for 50 and 4 s for 100 to a gap of 1e-6, 9 s for 150; to 1e-3 6 s for 150 and
// 3 minutes for 400. On a grid it takes 3 s for 400 and a few minutes for 1,024
// to 1e-5. Memory is 60 MB for 150 points of the plane and 0.5 GB for 400; in
// float64s at most 7 n^3 with dense factors from n = 60 on, 50 n^2 to 100 n^2
// with sparse ones.
//
// A program of [ConstOPT] takes 3 s for 400 points and 90 s for 1,000; memory
// is some 200 n^2 bytes and 72 for each of the (|I(v)|+1)^2 rows of every v.
// The block of a set I(v) of k inputs costs O(k^3); ctx does not interrupt its
// inversion, 2 s for 3,000 inputs. [Spanner] takes as long as 3 to 8 calls of
// Optimal on a graph.
//
// [Choose] always tries the constant mechanism, tight weights and the tuned
// exponential: half a second for 600 points, half a minute for 2,400, 5 minutes
// for 5,000. In a minute it tries the relaxed mechanism up to 1,200 points,
// ConstOPT up to 580, the optimal one up to 290 or 730 of a graph, and Spanner
// up to 500.
//
// # To release
//
// A [Solution], [ConstSolution] or [Choice] s is a mechanism on indices, through
// its channel; mechanism.On(s, points) releases the points themselves.
//
// # Who should not use it
//
// From a few hundred points on (a thousand on a graph) the program takes
// minutes and gigabytes; package exponential has mechanisms for thousands. On
// 60 places of a town they lose 3 to 20 per cent more than the optimum where
// tight weights exist, and up to 80 per cent more at smaller levels. An optimal
// mechanism is optimal for one loss, and its matrix has to be shipped. Its rows
// may have weights of 1e-20 and less, which are released that often.
//
// # References
//
// IKWAT22: Imola, Kasiviswanathan, White, Aggarwal, Teissier, Balancing utility
// and scalability in metric differential privacy. BCP14: Bordenabe,
// Chatzikokolakis, Palamidessi, Optimal geo-indistinguishable mechanisms for
// location privacy. BSV24: Boedihardjo, Strohmer, Vershynin, Metric geometry of
// the privacy-utility tradeoff. KL10: Kleinberg, Ligett, Privacy-compatibility for
// general utility metrics. Mehrotra, On the implementation of a primal-dual interior
// point method, 1992. Gondzio, Multiple centrality corrections in a primal-dual method
// for linear programming, 1996.
package lp
