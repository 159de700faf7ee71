"""What the project folder says. Reads files, touches no network, starts nothing."""
