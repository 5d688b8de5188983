import numbers

import torch
from torch import _VF
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


def _is_packed(input):
    return isinstance(input, tuple) and hasattr(input, "batch_sizes")


def _check_rank(name, input, ranks):
    # PyTorch 1.13 checks cells alone, and later versions with another exception.
    later, cell = int(torch.__version__.split(".")[0]) >= 2, name.endswith("Cell")
    if input.dim() not in ranks and (later or cell):
        text = "{}: Expected input to be {}D or {}D, got {}D instead".format(name, *ranks, input.dim())
        raise ValueError(text) if later else AssertionError(text)


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
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
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

    # Whether input, weights and states fit: `states` are h, or h and c.
    def _check(self, input, states, batch, rank):
        for value in (self.bias, self.batch_first, self.bidirectional):
            if not isinstance(value, bool):
                raise TypeError("{}() received an invalid combination of arguments".format(self.mode.lower()))
        if input.dim() != rank:
            raise RuntimeError("input must have {} dimensions, got {}".format(rank, input.dim()))
        if self.input_size != input.size(-1):
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected {}, got {}".format(
                    self.input_size, input.size(-1)
                )
            )
        layers = self.num_layers * (2 if self.bidirectional else 1)
        for i, (state, size) in enumerate(zip(states, self._state_sizes())):
            if tuple(state.size()) != (layers, batch, size):
                what = "hidden[{}] size".format(i) if len(states) == 2 else "hidden size"
                raise RuntimeError("Expected {} {}, got {}".format(what, (layers, batch, size), list(state.size())))

    def _state_sizes(self):
        real = self.proj_size if self.proj_size > 0 else self.hidden_size
        return (real, self.hidden_size) if self.mode == "LSTM" else (real,)

    # The states that the caller gives, (h,) or (h, c), or zeros; of one sequence they get the
    # dimension of the batch.
    def _states(self, input, hx, batch, is_batched):
        if hx is None:
            layers = self.num_layers * (2 if self.bidirectional else 1)
            return tuple(torch.zeros(layers, batch, size, dtype=input.dtype) for size in self._state_sizes())
        states = (hx[0], hx[1]) if self.mode == "LSTM" else (hx,)
        rank = 3 if is_batched else 2
        if any(state.dim() != rank for state in states):
            ranks = ["{}-D".format(state.dim()) for state in states]
            raise RuntimeError(
                "For {} input, {} should also be {}-D but got {}".format(
                    "batched 3-D" if is_batched else "unbatched 2-D",
                    "hx" if len(states) == 1 else "hx and cx",
                    rank,
                    ranks[0] + " tensor" if len(states) == 1 else "({}) tensors".format(", ".join(ranks)),
                )
            )
        return states if is_batched else tuple(state.unsqueeze(1) for state in states)

    # Of a packed batch: its rows, and who takes part in which step. The states are in the order of
    # the whole batch.
    def _forward_packed(self, packed, hx):
        from torch.nn.utils.rnn import PackedSequence

        input, batch_sizes, sorted_indices, unsorted_indices = packed
        batch = torch._batch_size(batch_sizes)
        if hx is None:
            states = self._states(input, None, batch, True)
        else:
            states = (hx[0], hx[1]) if self.mode == "LSTM" else (hx,)
            states = tuple(RNNBase.permute_hidden(h, sorted_indices) for h in states)
        self._check(input, states, batch, 2)
        output, *hidden = torch._rnn(
            self.mode.lower(),
            input,
            states,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.bidirectional,
            False,
            batch_sizes,
            self.training,
        )
        hidden = tuple(RNNBase.permute_hidden(h, unsorted_indices) for h in hidden)
        return (
            PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
            hidden if self.mode == "LSTM" else hidden[0],
        )

    def forward(self, input, hx=None):
        if _is_packed(input):
            return self._forward_packed(input, hx)
        _check_rank(self.mode.split("_")[0], input, (2, 3))
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        batch = input.size(batch_dim)
        states = self._states(input, hx, batch, is_batched)
        self._check(input, states, batch, 3)
        call = {"LSTM": _VF.lstm, "GRU": _VF.gru, "RNN_TANH": _VF.rnn_tanh, "RNN_RELU": _VF.rnn_relu}[self.mode]
        output, *hidden = call(
            input,
            states if self.mode == "LSTM" else states[0],
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        if not is_batched:
            output = output.squeeze(batch_dim)
            hidden = [h.squeeze(1) for h in hidden]
        return output, tuple(hidden) if self.mode == "LSTM" else hidden[0]


class RNN(RNNBase):
    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError("Unknown nonlinearity '{}'".format(self.nonlinearity))
        nonlinearity = self.nonlinearity
        super().__init__("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
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
        _check_rank(self.__class__.__name__, input, (1, 2))
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
        _check_rank("LSTMCell", input, (1, 2))
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
