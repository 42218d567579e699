"""One module per command; cli.py parses arguments and calls them."""
