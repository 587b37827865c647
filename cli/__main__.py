"""This module lets ``python -m clpix`` run the program."""

from .entry import main

main()
