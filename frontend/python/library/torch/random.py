from torch import Generator, get_rng_state, initial_seed, manual_seed, no_grad as _no_effect, seed, set_rng_state

default_generator = Generator()


class fork_rng(_no_effect):
    pass
