"""sumfit inside other programs: git, agents, notebooks, chains of components.

Owns one module for each host program. None is imported before it is asked for, and each names the
extra that it needs. Does not own the HTTP server, nor anything that a host could do by itself.
"""
