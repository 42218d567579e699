"""The processes in which a device runs: Node with Dawn, Chromium, Firefox. Each ends when its standard input closes."""
