"""Fourier transforms, following scipy.fft."""
