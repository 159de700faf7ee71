"""What runs a project elsewhere, as texts: a container's image, and the objects of a cluster."""
