"""The command line: each command parses, calls one function, prints.

`sweep --help` must cost nothing, so at the top of these files only click and the standard library are imported (and
`sweep.errors`, which imports nothing); a command imports what it needs when it runs. This is the only room where
imports inside functions are allowed.
"""
