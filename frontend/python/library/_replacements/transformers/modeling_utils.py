from transformers.modeling_utils import PreTrainedModel

__all__ = []


def _warn_if_padding_and_no_attention_mask(self, input_ids, attention_mask):
    pass


# It looks at the values of the input, which are not known here, to print a warning.
PreTrainedModel.warn_if_padding_and_no_attention_mask = _warn_if_padding_and_no_attention_mask
