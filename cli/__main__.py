"""``python -m clpix``."""

from .main import main

main()
