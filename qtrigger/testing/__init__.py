"""Fakes for the product's own seams, shipped so that others can test with them too."""
