"""Only urllib.parse is here; the network is not."""
