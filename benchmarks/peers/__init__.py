"""The consumers that are measured; each runs in a process of its own."""
