"""A queue service of our own on loopback, for machines that have no other. Not Microsoft's."""
