"""Newton's method on small sheets: the same loop and the same rules over parts that are compiled for one thread.

On a sheet of a few hundred faces an iteration of the solver for large ones takes several milliseconds, of which
arithmetic takes a few tenths: the rest is a general sparse solver's set-up, a search for contacts in nearly every
iteration, threads, and arrays made and joined in Python. Here the linear system is factorised by crumple's own fronts
(`system`), the pairs that may touch are found with a wide margin, about once in a solve, and what acts among them is
evaluated by few calls (`contact`). The potential and its minimisation are those of `crumple.solving`: whatever
energies, constraints and obstacles there are, small sheets have them too, and where rounding does not decide they take
the same iterations.
"""
