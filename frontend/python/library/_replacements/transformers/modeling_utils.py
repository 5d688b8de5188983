import sys

import _cobra
from transformers import __version__
from transformers.modeling_utils import PreTrainedModel

__all__ = []


def _warn_if_padding_and_no_attention_mask(self, input_ids, attention_mask):
    pass


def _traits(cls):
    return _cobra.module_traits(sys.modules.get(cls.__module__))


def _can_set_attn_implementation(cls):
    traits = _traits(cls)
    return traits is not None and (not traits[0] or traits[1])


def _can_set_experts_implementation(cls):
    traits = _traits(cls)
    return traits is not None and traits[2]


# It looks at the values of the input, which are not known here, to print a warning.
PreTrainedModel.warn_if_padding_and_no_attention_mask = _warn_if_padding_and_no_attention_mask
# They look for words in the text of the model's module. Earlier releases look for others.
if tuple(map(int, __version__.split(".")[:2])) >= (5, 15):
    PreTrainedModel._can_set_attn_implementation = classmethod(_can_set_attn_implementation)
    PreTrainedModel._can_set_experts_implementation = classmethod(_can_set_experts_implementation)
