"""What is known of each operator kind: `table` has them all, `kind` says what can be known.

A family (`sums`, `pooling`, `unary`, ...) has the options of its kinds, the rules of what is well formed, what they
make of known values, and at its end one row for each kind.
"""
