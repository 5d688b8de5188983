# torch.distributions, as networks use it at inference.
#
# PyTorch checks the arguments of a distribution with calls that are part of what runs, so they are
# made here too. Their answer is taken for "valid": what a tensor holds does not change what runs.
from torch.distributions import constraints
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution
from torch.distributions.independent import Independent
from torch.distributions.kl import kl_divergence, register_kl
from torch.distributions.normal import Normal
from torch.distributions.uniform import Uniform
