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
// BSV24. [Options].Prior asks for the least mean loss instead (BCP14),
// [Options].Outputs for other outputs than the inputs, and [Options].Loss for another
// loss than rho2, which need be no metric.
//
// There are n*m unknowns and n^2*m constraints ([Options.Size] counts them, those
// of the other options those of other programs). General solvers give up at some
// 75 points, or return wrong answers where alpha*rho1 is large. [Optimal] is an
// interior point method that eliminates one output after another: outputs are tied
// to each other only through the n row sums and the n losses. On the shortest-path
// metric of a graph the constraints of its edges imply all others, and the factors
// are sparse. Where outputs are few there, inputs are eliminated in place of outputs,
// at the cost of K^3 for K outputs times what the graph alone would take, if that is
// less. Elsewhere every output begins with the constraints of near inputs, and imposes
// others once a step would bring the solution near to breaking them: a tenth of all,
// in the end. No step breaks any.
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
// Before any program the bound is that of a star: whatever is likely at one input is not
// unlikely at the others, and their losses cannot all be small. It takes n^2
// exponentials, no triangle inequality and no metric for the loss. With 20 outputs, for
// 50 to 300 points of the plane at alpha*diameter = 1, 7 and 28, it is .6, .78 and .99 of
// the optimum in the worst case and .5, .6 and .9 under a prior; with all points as
// outputs .5, .5 and .7 to .98, and .3, .4 and .6 to .9.
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
// # Ten thousand inputs
//
// [Extended] brackets the optimum where the program is too large: the bound is that of
// a program for some inputs around the worst one, priced at all outputs, and the mechanism
// remapped noise, a sum of columns exp(-r rho1(., S)) with weights that balance its
// rows, or an extension of the program's own.
//
// With 10,000 inputs and Anchors of 300, audited over all pairs:
//
//	space    alpha   outputs   loss    by                bound   gap     time      memory
//	cities   0.03        100    535    balanced kernel     530   .0095   3 m 45 s  1.9 GiB
//	         0.01        100    559    remapped noise      537   .039    4 m 10 s  3.3 GiB
//	         0.01       1000    245    remapped noise      180   .26     5 m 10 s  3.4 GiB
//	roads    2          1000   3.78    balanced kernel    3.71   .017    1 m 10 s  0.9 GiB
//	         1          1000   4.21    balanced kernel    3.95   .063    1 m 50 s  1.0 GiB
//
// The cities are those within 5,000 km of Graz, in km, the road-like graph has crossings a unit
// apart. Where outputs are farther from each other than 2/alpha what is lost is mostly the
// way to them, which both ends see. Where they are denser noise loses 2/alpha,
// snapping to outputs 1.1/alpha apart adds a fifth, and a program with the inputs that can be
// had sees too little of the plane: a ball of radius 9/alpha with 250 inputs proves .91 of
// 2/alpha, with 200 cities .85. Where a local program sees the whole space, within some
// 6/alpha, the gap is .01 to .1, the less the closer its inputs lie. The audit takes O(n^2 m).
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
// Times are those of two cores on their best day; on others they were 1.8 times as long.
// [Optimal] on points of the plane takes 0.2 s for 50 and 1 s for 100 to a gap of 1e-6,
// half a minute for 400 to 5e-4 and 14 minutes for 1,000 to 1e-3. On a grid it takes some
// seconds for 400 and a minute for 1,024 to 1e-5. With 20 outputs roads take 2 s for 1,024
// inputs, 4 s for 2,025 and 14 s for 5,041 to 1e-3, with 100 outputs 9 minutes; 2,000 points
// of the plane with 50 outputs take 2.5 minutes. Memory is 0.6 GB for 400 points of the
// plane and 6.9 GB for 1,000; in float64s 50 n^2 to 100 n^2 with sparse factors; 1 GB
// for roads of 5,041 inputs and 20 outputs, 3.9 GB for 100 outputs.
//
// A program of [ConstOPT] takes 3 s for 400 points and 90 s for 1,000; memory
// is some 200 n^2 bytes and 72 for each of the (|I(v)|+1)^2 rows of every v.
// The block of a set I(v) of k inputs costs O(k^3); ctx does not interrupt its
// inversion, 2 s for 3,000 inputs. [Spanner] takes as long as 3 to 8 calls of
// Optimal on a graph.
//
// [Choose] always tries the constant mechanism, tight weights, snapped noise and the
// tuned exponential: half a second for 600 points, half a minute for 2,400, 5 minutes
// for 5,000. In a minute it tries remapped noise up to 2,000 points, the relaxed mechanism up to 1,200,
// ConstOPT up to 580, the optimal one up to 420 or 820 of a graph, and Spanner
// up to 500; with 20 outputs the optimal one up to 2,000, and 4,900 of a graph.
//
// # To release
//
// A [Solution], [ConstSolution] or [Choice] s is a mechanism on indices, through
// its channel; mechanism.On(s, points) releases the points themselves.
//
// # Who should not use it
//
// From a few hundred points on (a thousand on a graph, more where outputs are few)
// the program takes minutes and gigabytes; package exponential has mechanisms for
// thousands. On
// 60 places of a town they lose 3 to 20 per cent more than the optimum where
// tight weights exist, and 8 to 16 per cent more at smaller levels. An optimal
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
