"""Deeds done to many messages of a queue at a person's wish: move, remove, look at.

Owns that nothing is lost at any point, and how a run is stopped. Knows no command line, no project
and no journal; what is wanted and where it goes is given.
"""
