"""Images in parts: planes and slabs, where their rows come from and go to, and their transfers while kernels run."""
