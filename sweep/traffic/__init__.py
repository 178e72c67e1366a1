"""The traffic room: length distributions, and request traces -> facts -> request classes.

Times are integer nanoseconds, lengths whole tokens, means and rates exact ratios; no float is made anywhere. Nothing
is imported here, so that a grid can take `lengths` without NumPy.
"""
