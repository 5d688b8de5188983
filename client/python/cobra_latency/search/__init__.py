"""A latency budget in searches of others, each in a separate module that needs its library:

    cobra_latency.search.optuna     a constraint and a pruner         pip install cobra-latency[optuna]
    cobra_latency.search.pymoo      a problem                         pip install cobra-latency[pymoo]
    cobra_latency.search.ray        a trainable for Ray Tune          pip install cobra-latency[ray]

They are a few lines over FeasibleUnder, which any other search can call itself (docs/search.md has
NNI).
"""
