"""Templates of reference sets: texts with expressions in double braces, which are data and never run as code.

Most are a name in braces and need nothing. Others are parsed by jinja2, and what its parser finds is taken over into
trees of a few kinds of nodes, or refused; the kernel evaluates them.
"""
