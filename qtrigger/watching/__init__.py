"""Watching a project's folder: which of its files are others than before."""
