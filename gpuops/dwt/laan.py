def analyse(*a): raise NotImplementedError
synthesise=analyse
