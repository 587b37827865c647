"""OpenColorIO: its configs, and its transforms as OpenCL C."""
