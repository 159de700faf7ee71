"""The pages that show how a running host stands, and what a person can do about it there."""
