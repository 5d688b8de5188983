"""A SubTransformer of HAT on its own (mit-han-lab/hardware-aware-transformers, transformer_super
with the sampled sizes), written down in PyTorch for comparison with frontend/nas: encoder, then
decoder over a whole target sentence without incremental state. Sentences hold no padding, so the
padding mask, computed as there, masks nothing."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD = 1


class Positions(nn.Module):
    def __init__(self, dim, size=1024):
        super().__init__()
        self.weights = torch.zeros(size + PAD + 1, dim)

    def forward(self, tokens):
        mask = tokens.ne(PAD).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + PAD
        return self.weights.index_select(0, positions.view(-1)).view(tokens.size(0), tokens.size(1), -1).detach()


class Attention(nn.Module):
    def __init__(self, q_dim, kv_dim, heads, self_attention, need_weights, qkv_dim=512):
        super().__init__()
        self.heads, self.qkv_dim, self.self_attention, self.need_weights = heads, qkv_dim, self_attention, need_weights
        if self_attention:
            self.in_proj_weight = nn.Parameter(torch.zeros(3 * qkv_dim, q_dim))
            self.in_proj_bias = nn.Parameter(torch.zeros(3 * qkv_dim))
        else:
            for name, dim in (("q", q_dim), ("k", kv_dim), ("v", kv_dim)):
                self.register_parameter(name + "_proj_weight", nn.Parameter(torch.zeros(qkv_dim, dim)))
                self.register_parameter(name + "_proj_bias", nn.Parameter(torch.zeros(qkv_dim)))
        self.out_proj = nn.Linear(qkv_dim, q_dim)

    def forward(self, query, key, mask=None):
        length, batch, _ = query.size()
        heads, size = self.heads, self.qkv_dim // self.heads
        if self.self_attention:
            q, k, v = F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        else:
            q = F.linear(query, self.q_proj_weight, self.q_proj_bias)
            k = F.linear(key, self.k_proj_weight, self.k_proj_bias)
            v = F.linear(key, self.v_proj_weight, self.v_proj_bias)
        q *= size**-0.5
        q = q.contiguous().view(length, batch * heads, size).transpose(0, 1)
        k = k.contiguous().view(-1, batch * heads, size).transpose(0, 1)
        v = v.contiguous().view(-1, batch * heads, size).transpose(0, 1)
        weights = torch.bmm(q, k.transpose(1, 2))
        if mask is not None:
            weights += mask.unsqueeze(0)
        weights = F.softmax(weights, dim=-1, dtype=torch.float32).type_as(weights)
        weights = F.dropout(weights, p=0.1, training=self.training)
        out = torch.bmm(weights, v)
        out = self.out_proj(out.transpose(0, 1).contiguous().view(length, batch, self.qkv_dim))
        if self.need_weights:
            weights = weights.view(batch, heads, length, k.size(1))
            weights = weights.sum(dim=1) / heads
        return out


class EncoderLayer(nn.Module):
    def __init__(self, dim, ffn, heads):
        super().__init__()
        self.self_attn = Attention(dim, dim, heads, True, True)
        self.self_attn_layer_norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, ffn)
        self.fc2 = nn.Linear(ffn, dim)
        self.final_layer_norm = nn.LayerNorm(dim)

    def forward(self, x):
        residual = x
        x = self.self_attn(x, x)
        x = F.dropout(x, p=0.3, training=self.training)
        x[: residual.size(0), :, :] = residual + x[: residual.size(0), :, :]
        x = self.self_attn_layer_norm(x)
        residual = x
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.0, training=self.training)
        x = self.fc2(x)
        x = F.dropout(x, p=0.3, training=self.training)
        return self.final_layer_norm(residual + x)


class DecoderLayer(nn.Module):
    def __init__(self, dim, encoder_dim, ffn, heads, ende_heads):
        super().__init__()
        self.self_attn = Attention(dim, dim, heads, True, False)
        self.self_attn_layer_norm = nn.LayerNorm(dim)
        self.encoder_attn = Attention(dim, encoder_dim, ende_heads, False, True)
        self.encoder_attn_layer_norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, ffn)
        self.fc2 = nn.Linear(ffn, dim)
        self.final_layer_norm = nn.LayerNorm(dim)

    def forward(self, x, memory, mask):
        x = self.self_attn_layer_norm(x + F.dropout(self.self_attn(x, x, mask), p=0.3, training=self.training))
        x = self.encoder_attn_layer_norm(x + F.dropout(self.encoder_attn(x, memory), p=0.3, training=self.training))
        residual = x
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.0, training=self.training)
        x = self.fc2(x)
        x = F.dropout(x, p=0.3, training=self.training)
        return self.final_layer_norm(residual + x)


class Embedding(nn.Module):
    """A table whose first `dim` columns are used: encoder and decoder may share one and differ in
    width."""

    def __init__(self, vocab, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(vocab, dim))

    def forward(self, tokens, dim):
        return F.embedding(tokens, columns(self.weight, dim), padding_idx=PAD)


def columns(weight, dim):
    return weight if weight.size(1) == dim else weight[..., :dim]


class Encoder(nn.Module):
    def __init__(self, dim, embed, ffns, heads):
        super().__init__()
        self.dim, self.embed_tokens, self.embed_positions = dim, embed, Positions(dim)
        self.layers = nn.ModuleList([EncoderLayer(dim, f, h) for f, h in zip(ffns, heads)])

    def forward(self, tokens):
        x = math.sqrt(self.dim) * self.embed_tokens(tokens, self.dim)
        x += self.embed_positions(tokens)[..., : self.dim]
        x = F.dropout(x, p=0.3, training=self.training)
        x = x.transpose(0, 1)
        tokens.eq(PAD).any()
        every = []
        for layer in self.layers:
            x = layer(x)
            every.append(x)
        return every


class Decoder(nn.Module):
    def __init__(self, dim, encoder_dim, embed, ffns, heads, ende_heads, arbitrary, out_vocab):
        super().__init__()
        self.dim, self.embed_tokens, self.embed_positions, self.arbitrary = dim, embed, Positions(dim), arbitrary
        self.layers = nn.ModuleList(
            [DecoderLayer(dim, encoder_dim, f, h, e) for f, h, e in zip(ffns, heads, ende_heads)]
        )
        self.future = torch.zeros(1024, 1024)
        self.embed_out = nn.Parameter(torch.zeros(out_vocab, dim)) if out_vocab else None

    def forward(self, tokens, every):
        positions = self.embed_positions(tokens)[..., : self.dim]
        x = math.sqrt(self.dim) * self.embed_tokens(tokens, self.dim)
        x += positions
        x = F.dropout(x, p=0.3, training=self.training)
        x = x.transpose(0, 1)
        for layer, reach in zip(self.layers, self.arbitrary):
            memory = every[-1]
            if reach == 1:
                memory = torch.cat([every[-1], every[-2]], dim=0)
            elif reach == 2:
                memory = torch.cat([every[-1], every[-2], every[-3]], dim=0)
            x = layer(x, memory, self.future[: x.size(0), : x.size(0)])
        x = x.transpose(0, 1)
        return F.linear(x, columns(self.embed_tokens.weight, self.dim) if self.embed_out is None else self.embed_out)


class Transformer(nn.Module):
    def __init__(self, encoder, decoder, src_vocab, tgt_vocab=None):
        super().__init__()
        shared = tgt_vocab is None
        embed = Embedding(src_vocab, max(encoder[0], decoder[0]) if shared else encoder[0])
        other = embed if shared else Embedding(tgt_vocab, decoder[0])
        self.encoder = Encoder(encoder[0], embed, encoder[1], encoder[2])
        self.decoder = Decoder(decoder[0], encoder[0], other, *decoder[1:], 0 if shared else tgt_vocab)

    def forward(self, src_tokens, prev_output_tokens):
        return self.decoder(prev_output_tokens, self.encoder(src_tokens))
