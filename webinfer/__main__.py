"""`python -m webinfer` is the command line."""

from webinfer.cli import main

main()
