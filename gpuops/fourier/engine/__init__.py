"""The engine of Fourier transforms: plans for any size, the text of their kernels, and their launches."""
