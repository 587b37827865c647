"""This module lets ``python -m clpix`` run the program."""

from .main import main

main()
