"""The meaning of pixels: a file's depths and colour spaces, and light on the device."""
