"""References in double precision that more than one test module uses, by family: from numpy, peers and sources."""
