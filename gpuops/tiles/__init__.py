"""Images in parts: planes and slabs, and their transfers while kernels run."""
