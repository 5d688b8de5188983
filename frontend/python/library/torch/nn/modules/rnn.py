import numbers

import torch
from torch import _VF
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


def _is_packed(input):
    return isinstance(input, tuple) and hasattr(input, "batch_sizes")


class RNNBase(Module):
    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        num_directions = 2 if bidirectional else 1
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if proj_size >= hidden_size and proj_size > 0:
            raise ValueError("proj_size has to be smaller than hidden_size")
        gate_size = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}[mode] * hidden_size
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(num_directions):
                real_hidden_size = proj_size if proj_size > 0 else hidden_size
                layer_input_size = input_size if layer == 0 else real_hidden_size * num_directions
                shapes = [(gate_size, layer_input_size), (gate_size, real_hidden_size)]
                suffix = "_reverse" if direction == 1 else ""
                names = ["weight_ih_l{}{}", "weight_hh_l{}{}"]
                if bias:
                    shapes += [(gate_size,), (gate_size,)]
                    names += ["bias_ih_l{}{}", "bias_hh_l{}{}"]
                if proj_size > 0:
                    shapes += [(proj_size, hidden_size)]
                    names += ["weight_hr_l{}{}"]
                names = [name.format(layer, suffix) for name in names]
                for name, shape in zip(names, shapes):
                    setattr(self, name, Parameter(torch.empty(shape, dtype=dtype)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        return [[getattr(self, weight) for weight in weights] for weights in self._all_weights]

    def extra_repr(self):
        s = "{input_size}, {hidden_size}"
        if self.proj_size != 0:
            s += ", proj_size={proj_size}"
        if self.num_layers != 1:
            s += ", num_layers={num_layers}"
        if self.bias is not True:
            s += ", bias={bias}"
        if self.batch_first is not False:
            s += ", batch_first={batch_first}"
        if self.dropout != 0:
            s += ", dropout={dropout}"
        if self.bidirectional is not False:
            s += ", bidirectional={bidirectional}"
        return s.format(**self.__dict__)

    def flatten_parameters(self):
        pass

    def reset_parameters(self):
        pass

    @staticmethod
    def permute_hidden(hx, permutation):
        return hx if permutation is None else hx.index_select(1, permutation)

    # Of a packed batch: its rows, and who takes part in which step. hx is a tensor or a tuple of them, in the order of
    # the whole batch.
    def _forward_packed(self, packed, hx):
        from torch.nn.utils.rnn import PackedSequence

        input, batch_sizes, sorted_indices, unsorted_indices = packed
        assert input.dim() == 2, "input must have 2 dimensions, got {}".format(input.dim())
        states = 2 if self.mode == "LSTM" else 1
        if hx is None:
            layers = self.num_layers * (2 if self.bidirectional else 1)
            sizes = (self.proj_size if self.proj_size > 0 else self.hidden_size, self.hidden_size)[:states]
            hx = tuple(torch.zeros(layers, torch._batch_size(batch_sizes), size, dtype=input.dtype) for size in sizes)
        else:
            hx = tuple(self.permute_hidden(h, sorted_indices) for h in (hx if states == 2 else (hx,)))
        output, *hidden = torch._rnn(
            self.mode.lower(),
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.bidirectional,
            False,
            batch_sizes,
            self.training,
        )
        hidden = tuple(self.permute_hidden(h, unsorted_indices) for h in hidden)
        return (
            PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
            hidden if states == 2 else hidden[0],
        )

    def _zeros(self, input, size):
        batch = input.size(0) if self.batch_first else input.size(1)
        return torch.zeros(self.num_layers * (2 if self.bidirectional else 1), batch, size, dtype=input.dtype)

    # A state that the caller gives: of one sequence it gets the dimension that stands for the batch.
    def _state(self, hx, is_batched, what):
        if hx.dim() != (3 if is_batched else 2):
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            raise RuntimeError(
                "For {} input, {} should also be {}-D but got {}-D tensor".format(
                    kind, what, 3 if is_batched else 2, hx.dim()
                )
            )
        return hx if is_batched else hx.unsqueeze(1)

    def _check_state(self, input, hx, size, message):
        expected = (
            self.num_layers * (2 if self.bidirectional else 1),
            input.size(0) if self.batch_first else input.size(1),
            size,
        )
        if tuple(hx.size()) != expected:
            raise RuntimeError(message.format(expected, list(hx.size())))

    def forward(self, input, hx=None):
        if _is_packed(input):
            return self._forward_packed(input, hx)
        assert input.dim() in (2, 3), "RNN: Expected input to be 2-D or 3-D but received {}-D tensor".format(
            input.dim()
        )
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            hx = self._zeros(input, self.hidden_size)
        else:
            hx = self._state(hx, is_batched, "hx")
            self._check_state(input, hx, self.hidden_size, "Expected hidden size {}, got {}")
        call = {"GRU": _VF.gru, "RNN_TANH": _VF.rnn_tanh, "RNN_RELU": _VF.rnn_relu}[self.mode]
        output, hidden = call(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        return (output, hidden) if is_batched else (output.squeeze(batch_dim), hidden.squeeze(1))


class RNN(RNNBase):
    def __init__(self, *args, **kwargs):
        self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError("Unknown nonlinearity '{}'".format(self.nonlinearity))
        nonlinearity = self.nonlinearity
        super().__init__("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input, hx=None):
        if _is_packed(input):
            return self._forward_packed(input, hx)
        assert input.dim() in (2, 3), "LSTM: Expected input to be 2-D or 3-D but received {}-D tensor".format(
            input.dim()
        )
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        sizes = (self.proj_size if self.proj_size > 0 else self.hidden_size, self.hidden_size)
        if hx is None:
            hx = (self._zeros(input, sizes[0]), self._zeros(input, sizes[1]))
        else:
            hx = tuple(self._state(h, is_batched, "hx and cx") for h in hx)
            for i in (0, 1):
                self._check_state(input, hx[i], sizes[i], "Expected hidden[%d] size {}, got {}" % i)
        output, h, c = _VF.lstm(
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        return (output, (h, c)) if is_batched else (output.squeeze(batch_dim), (h.squeeze(1), c.squeeze(1)))


class GRU(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = Parameter(torch.empty((num_chunks * hidden_size, input_size), dtype=dtype))
        self.weight_hh = Parameter(torch.empty((num_chunks * hidden_size, hidden_size), dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(num_chunks * hidden_size, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(num_chunks * hidden_size, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def extra_repr(self):
        s = "{input_size}, {hidden_size}"
        if "bias" in self.__dict__ and self.bias is not True:
            s += ", bias={bias}"
        if "nonlinearity" in self.__dict__ and self.nonlinearity != "tanh":
            s += ", nonlinearity={nonlinearity}"
        return s.format(**self.__dict__)

    def _run(self, cell, input, hx):
        assert input.dim() in (1, 2), "{}: Expected input to be 1-D or 2-D but received {}-D tensor".format(
            self.__class__.__name__, input.dim()
        )
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype)
        elif not is_batched:
            hx = hx.unsqueeze(0)
        out = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return out if is_batched else out.squeeze(0)


class RNNCell(RNNCellBase):
    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError("Unknown nonlinearity: {}".format(self.nonlinearity))
        return self._run(_VF.rnn_tanh_cell if self.nonlinearity == "tanh" else _VF.rnn_relu_cell, input, hx)


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        assert input.dim() in (1, 2), "LSTMCell: Expected input to be 1-D or 2-D but received {}-D tensor".format(
            input.dim()
        )
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype)
            hx = (zeros, zeros)
        elif not is_batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = _VF.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._run(_VF.gru_cell, input, hx)
