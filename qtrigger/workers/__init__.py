"""Running user code in other processes."""
