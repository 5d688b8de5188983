"""The calls that NeuSight measured, as PyTorch: single kernels, and its language models call by
call as its traces show them (transformers of 2023, attention written out). For make_neusight.py;
nothing here is run."""
import torch
from torch import nn
from torch.nn import functional as F


class Call(nn.Module):
    """One call of tensors without parameters."""

    CALLS = {
        "add": lambda x, y: x + y,
        "addu": lambda x: x + 2.0,
        "mul": lambda x, y: x * y,
        "mulu": lambda x: x * 2.0,
        "div": lambda x, y: x / y,
        "divu": lambda x: x / 2.0,
        "pow": lambda x, y: torch.pow(x, y),
        "powu": lambda x: torch.pow(x, 3.0),
        "relu": lambda x: F.relu(x),
        "gelu": lambda x: F.gelu(x),
        "tanh": lambda x: torch.tanh(x),
        "softmax": lambda x: F.softmax(x, dim=-1),
        "bmm": lambda x, y: torch.bmm(x, y),
        "matmul": lambda x, y: torch.matmul(x, y),
    }

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, *tensors):
        return self.CALLS[self.name](*tensors)


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is transposed."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.outputs = outputs
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        shape = x.shape[:-1] + (self.outputs,)
        return torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight).view(shape)


class AddMM(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight)


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.dense = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.intermediate, self.output = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.shape[:-1] + (self.heads, self.size)).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        query = self.query(x)
        key, value = self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(self.split(query), key.transpose(-1, -2)) / 8.0 + mask
        context = torch.matmul(self.dropout(F.softmax(scores, dim=-1)), value).permute(0, 2, 1, 3).contiguous()
        x = self.attention_norm(self.dropout(self.dense(context.view(x.shape))) + x)
        return self.output_norm(self.dropout(self.output(F.gelu(self.intermediate(x)))) + x)


class Bert(nn.Module):
    """bert_large: a classifier of two classes on the first token."""

    def __init__(self, layers, hidden=1024, heads=16, inner=4096, words=30522, positions=512):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, hidden), nn.Embedding(positions, hidden)
        self.types = nn.Embedding(2, hidden)
        self.register_buffer("type_ids", torch.zeros(1, positions, dtype=torch.int64))
        self.register_buffer("position_ids", torch.arange(positions).expand(1, -1))
        self.norm, self.dropout = nn.LayerNorm(hidden, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer(hidden, heads, inner) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(hidden, hidden), nn.Linear(hidden, 2)

    def forward(self, ids):
        batch, length = ids.shape
        types = self.type_ids[:, :length].expand(batch, length)
        x = self.words(ids) + self.types(types) + self.positions(self.position_ids[:, :length])
        x = self.dropout(self.norm(x))
        mask = (1.0 - torch.ones(batch, length)[:, None, None, :]) * -3.4e38
        for layer in self.layers:
            x = layer(x, mask)
        return self.classifier(self.dropout(torch.tanh(self.pooler(x[:, 0]))))


class GPT2Layer(nn.Module):
    def __init__(self, hidden, heads, positions):
        super().__init__()
        self.hidden, self.heads = hidden, heads
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.c_attn, self.c_proj = Conv1D(hidden, 3 * hidden), Conv1D(hidden, hidden)
        self.c_fc, self.mlp_proj = Conv1D(hidden, 4 * hidden), Conv1D(4 * hidden, hidden)
        self.dropout = nn.Dropout(0.1)
        bias = torch.tril(torch.ones((positions, positions), dtype=torch.bool))
        self.register_buffer("bias", bias.view(1, 1, positions, positions))

    def split(self, x):
        return x.view(x.shape[:-1] + (self.heads, self.hidden // self.heads)).permute(0, 2, 1, 3)

    def attention(self, x):
        query, key, value = (self.split(part) for part in self.c_attn(x).split(self.hidden, dim=2))
        scores = torch.matmul(query, key.transpose(-1, -2))
        scores = scores / torch.full([], (self.hidden // self.heads) ** 0.5)
        length = x.shape[1]
        scores = torch.where(self.bias[:, :, :length, :length], scores, torch.full([], -3.4e38))
        context = torch.matmul(self.dropout(F.softmax(scores, dim=-1)), value).permute(0, 2, 1, 3).contiguous()
        return self.dropout(self.c_proj(context.view(x.shape)))

    def gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward(self, x):
        x = self.attention(self.ln_1(x)) + x
        return x + self.dropout(self.mlp_proj(self.gelu(self.c_fc(self.ln_2(x)))))


class GPT2(nn.Module):
    def __init__(self, layers, hidden, heads, positions, words=50257):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, hidden), nn.Embedding(positions, hidden)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(GPT2Layer(hidden, heads, positions) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(hidden), nn.Linear(hidden, words, bias=False)

    def forward(self, ids):
        positions = torch.arange(0, ids.shape[1]).unsqueeze(0).view(-1, ids.shape[1])
        x = self.dropout(self.wte(ids) + self.wpe(positions))
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.ln_f(x))


class OPTLayer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(hidden, hidden) for _ in range(4))
        self.attention_norm, self.final_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.fc1, self.fc2 = nn.Linear(hidden, inner), nn.Linear(inner, hidden)

    def split(self, x):
        return x.view(x.shape[0], -1, self.heads, self.size).transpose(1, 2).contiguous()

    def attention(self, x, mask):
        batch, length, hidden = x.shape
        query = self.q_proj(x) * self.size**-0.5
        key, value = self.split(self.k_proj(x)), self.split(self.v_proj(x))
        query, key, value = (t.view(batch * self.heads, -1, self.size) for t in (self.split(query), key, value))
        scores = torch.bmm(query, key.transpose(1, 2)).view(batch, self.heads, length, length) + mask
        scores = torch.max(scores, torch.tensor(-3.4e38)).view(batch * self.heads, length, length)
        context = torch.bmm(F.dropout(F.softmax(scores, dim=-1), 0.0, self.training), value)
        context = context.view(batch, self.heads, length, self.size).transpose(1, 2)
        return F.dropout(self.out_proj(context.reshape(batch, length, hidden)), 0.1, self.training)

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        return (x + F.dropout(self.fc2(F.relu(self.fc1(self.final_norm(x)))), 0.1, self.training)).view(shape)


class OPT(nn.Module):
    def __init__(self, layers, hidden=2048, heads=32, inner=8192, words=50272, positions=2048):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, hidden), nn.Embedding(positions + 2, hidden)
        self.layers = nn.ModuleList(OPTLayer(hidden, heads, inner) for _ in range(layers))
        self.norm, self.lm_head = nn.LayerNorm(hidden), nn.Linear(hidden, words, bias=False)

    def mask(self, ones):
        batch, length = ones.shape
        causal = torch.full((length, length), -3.4e38)
        places = torch.arange(length)
        causal.masked_fill_(places < (places + 1).view(length, 1), 0)
        causal = causal[None, None, :, :].expand(batch, 1, length, length)
        inverted = 1.0 - ones[:, None, None, :].expand(batch, 1, length, length)
        expanded = inverted.masked_fill(inverted.to(torch.bool), -3.4e38)
        return causal.masked_fill(expanded.bool(), -3.4e38)

    def forward(self, ids):
        x = self.tokens(ids.view(-1, ids.shape[-1]))
        ones = torch.ones(ids.shape)
        mask = self.mask(ones)
        places = ones.long()
        places = (torch.cumsum(places, dim=1).type_as(places) * places).long() - 1
        x = x + F.embedding(places + 2, self.positions.weight)
        for layer in self.layers:
            x = layer(x, mask)
        return self.lm_head(self.norm(x)).contiguous()
