"""python -m cobra_latency predict net.py ...: cobra-client with the same arguments."""
from .programs import client

if __name__ == "__main__":
    client()
