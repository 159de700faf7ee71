"""HTTP of a running host: who may ask what, and what is answered. Off the path of every message."""
