// HAT (Wang et al., ACL 2020): a SubTransformer of mit-han-lab/hardware-aware-transformers as a
// network of its own, in which every weight has the sampled size. It consists of embeddings,
// encoder, decoder over a whole target sentence (teacher forcing, no incremental state) and output
// projection. It is what the original code runs in eval mode. The padding mask is computed but
// masks nothing, encoder attention and encoder-decoder attention average their weights over heads,
// and dropout is called but changes nothing.
//
// Sizes that a configuration does not contain are options, because the task determines them
// (vocabularies of fairseq's preprocessed data, sentence lengths of HAT's latency data, whether one
// embedding serves all three places).
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/nas/hat_config.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

struct Task {
  int64_t src_vocab, tgt_vocab, length;
  bool share_all_embeddings;
};
// The tasks are in the order of the option's choices below.
constexpr Task kTasks[] = {
    {32768, 32768, 30, true}, {44512, 44512, 30, true}, {42024, 42024, 30, true}, {8848, 6632, 23, false}};

constexpr int64_t kPadding = 1;  // fairseq's index of the padding token
constexpr int64_t kMaxPositions = 1024;
constexpr double kDropout = 0.3, kAttentionDropout = 0.1;

class Transformer {
 public:
  Transformer(graph::NetBuilder& net, const HatConfig& config, const Task& task, int64_t qkv_dim)
      : net_(net), config_(config), task_(task), qkv_dim_(qkv_dim) {}

  graph::ValueRef Run(graph::ValueRef src_tokens, graph::ValueRef tgt_tokens) {
    AddEmbeddings();
    const std::vector<graph::ValueRef> layers = Encode(src_tokens);
    return Decode(tgt_tokens, layers);
  }

 private:
  void AddEmbeddings() {
    const int64_t width = task_.share_all_embeddings ? std::max(config_.encoder.embed_dim, config_.decoder.embed_dim)
                                                     : config_.encoder.embed_dim;
    src_embedding_ = tgt_embedding_ = output_ = net_.Parameter({task_.src_vocab, width}, "encoder.embed_tokens.weight");
    if (task_.share_all_embeddings) return;
    tgt_embedding_ = net_.Parameter({task_.tgt_vocab, config_.decoder.embed_dim}, "decoder.embed_tokens.weight");
    output_ = net_.Parameter({task_.tgt_vocab, config_.decoder.embed_dim}, "decoder.embed_out");
  }

  // The first `width` columns of a shared table.
  graph::ValueRef Columns(const std::string& path, graph::ValueRef table, int64_t width) {
    return net_.Dim(table, 1) == width ? table : net_.GetItem(table, absl::StrCat("..., :", width), path);
  }

  graph::ValueRef Positions(const std::string& path, graph::ValueRef tokens, int64_t width) {
    const std::string module = absl::StrCat(path, ".embed_positions");
    graph::ValueRef mask = net_.Call(graph::Op::ne, {{"other", kPadding}}, {tokens}, module);
    mask = net_.Call(graph::Op::int_, {}, {mask}, module);
    graph::ValueRef index = net_.Call(graph::Op::cumsum, {{"dim", int64_t{1}}}, {mask}, module);
    index = net_.Call(graph::Op::type_as, {}, {index, mask}, module);
    index = net_.Call(graph::Op::mul, {}, {index, mask}, module);
    index = net_.Call(graph::Op::long_, {}, {index}, module);
    index = net_.Call(graph::Op::add, {{"other", kPadding}}, {index}, module);
    index = net_.View(index, {-1}, module);
    const graph::ValueRef table =
        net_.Constant({kMaxPositions + kPadding + 1, width}, absl::StrCat(module, ".weights"));
    graph::ValueRef x = net_.Call(graph::Op::index_select, {{"dim", int64_t{0}}}, {table, index}, module);
    x = net_.View(x, {net_.Dim(tokens, 0), net_.Dim(tokens, 1), -1}, module);
    x = net_.Call(graph::Op::detach, {}, {x}, module);
    return net_.GetItem(x, absl::StrCat("..., :", width), path);
  }

  graph::ValueRef Embed(const std::string& path, graph::ValueRef tokens, graph::ValueRef table, int64_t width) {
    // A module that encoder and decoder share has the name of its first occurrence.
    const std::string module = absl::StrCat(task_.share_all_embeddings ? "encoder" : path, ".embed_tokens");
    const graph::ValueRef x =
        net_.Call(graph::Op::embedding,
                  {{"padding_idx", kPadding}, {"norm_type", 2.0}, {"scale_grad_by_freq", false}, {"sparse", false}},
                  {tokens, Columns(module, table, width)}, module);
    return net_.Call(graph::Op::mul, {{"other", std::sqrt(static_cast<double>(width))}}, {x}, path);
  }

  // Adds the dropout call to the graph; in eval mode its result is `x` itself.
  graph::ValueRef Dropout(const std::string& path, graph::ValueRef x, double p) {
    net_.Dropout(x, p, path);
    return x;
  }

  graph::ValueRef Transpose01(const std::string& path, graph::ValueRef x) {
    return net_.Call(graph::Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}, {x}, path);
  }

  // A linear layer whose weight and bias belong to the attention module itself.
  graph::ValueRef Project(const std::string& path, const std::string& name, graph::ValueRef x, int64_t out) {
    const graph::ValueRef weight = net_.Parameter({out, net_.Dim(x, 2)}, absl::StrCat(path, ".", name, "_weight"));
    const graph::ValueRef bias = net_.Parameter({out}, absl::StrCat(path, ".", name, "_bias"));
    return net_.Call(graph::Op::linear, {}, {x, weight, bias}, path);
  }

  graph::ValueRef SplitHeads(const std::string& path, graph::ValueRef x, int64_t length, int64_t batch_heads,
                             int64_t size) {
    return Transpose01(path, net_.View(net_.Contiguous(x, path), {length, batch_heads, size}, path));
  }

  struct Attention {
    int64_t heads;
    bool need_weights;
    graph::ValueRef mask;
  };
  // This is self-attention if `key` is `query`.
  graph::ValueRef Attend(const std::string& path, graph::ValueRef query, graph::ValueRef key,
                         const Attention& attention) {
    const int64_t length = net_.Dim(query, 0), batch = net_.Dim(query, 1);
    const int64_t heads = attention.heads, size = qkv_dim_ / heads;
    graph::ValueRef q, k, v;
    const graph::AttributeValue scaling = std::pow(static_cast<double>(size), -0.5);
    if (key == query) {
      const graph::ValueRef all = Project(path, "in_proj", query, 3 * qkv_dim_);
      q = net_.Call(graph::Op::chunk, {{"chunks", int64_t{3}}, {"dim", int64_t{-1}}}, {all}, path);
      if (!net_.status().ok()) return q;
      k = graph::ValueRef::Node(q.index, 1);
      v = graph::ValueRef::Node(q.index, 2);
      q = net_.CallInPlace(graph::Op::mul, {{"other", scaling}}, {q}, path);
    } else {
      q = Project(path, "q_proj", query, qkv_dim_);
      k = Project(path, "k_proj", key, qkv_dim_);
      v = Project(path, "v_proj", key, qkv_dim_);
      q = net_.CallInPlace(graph::Op::mul, {{"other", scaling}}, {q}, path);
    }
    q = SplitHeads(path, q, length, batch * heads, size);
    k = SplitHeads(path, k, -1, batch * heads, size);
    v = SplitHeads(path, v, -1, batch * heads, size);
    k = net_.Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {k}, path);
    graph::ValueRef weights = net_.Call(graph::Op::bmm, {}, {q, k}, path);
    if (!attention.mask.is_none()) weights = net_.AddInPlace(weights, attention.mask, path);
    const graph::ValueRef scores = weights;
    weights = net_.Call(graph::Op::softmax, {{"dim", int64_t{-1}}, {"dtype", std::string("float32")}}, {weights}, path);
    net_.Call(graph::Op::type_as, {}, {weights, scores}, path);  // float32 already, so it returns the tensor itself
    weights = Dropout(path, weights, kAttentionDropout);
    graph::ValueRef out = Transpose01(path, net_.Call(graph::Op::bmm, {}, {weights, v}, path));
    out = net_.View(net_.Contiguous(out, path), {length, batch, qkv_dim_}, path);
    out = net_.Linear(out, net_.Dim(query, 2), absl::StrCat(path, ".out_proj"));
    if (attention.need_weights) {
      graph::ValueRef mean = net_.View(weights, {batch, heads, length, net_.Dim(weights, 2)}, path);
      mean = net_.Call(graph::Op::sum, {{"dim", std::vector<int64_t>{1}}, {"keepdim", false}}, {mean}, path);
      net_.Call(graph::Op::div, {{"other", heads}}, {mean}, path);
    }
    return out;
  }

  graph::ValueRef Norm(const std::string& path, graph::ValueRef x) { return net_.LayerNorm(x, path); }

  graph::ValueRef FeedForward(const std::string& path, graph::ValueRef x, int64_t width) {
    const graph::ValueRef residual = x;
    x = net_.Relu(net_.Linear(x, width, absl::StrCat(path, ".fc1")), path);
    x = Dropout(path, x, 0.0);
    x = net_.Linear(x, net_.Dim(residual, 2), absl::StrCat(path, ".fc2"));
    x = Dropout(path, x, kDropout);
    return Norm(absl::StrCat(path, ".final_layer_norm"), net_.Add(residual, x, path));
  }

  std::vector<graph::ValueRef> Encode(graph::ValueRef tokens) {
    const HatSide& side = config_.encoder;
    graph::ValueRef x = Embed("encoder", tokens, src_embedding_, side.embed_dim);
    x = net_.AddInPlace(x, Positions("encoder", tokens, side.embed_dim), "encoder");
    x = Transpose01("encoder", Dropout("encoder", x, kDropout));
    net_.Call(graph::Op::any, {}, {net_.Call(graph::Op::eq, {{"other", kPadding}}, {tokens}, "encoder")}, "encoder");
    std::vector<graph::ValueRef> layers;
    for (size_t i = 0; i < side.ffn_embed_dim.size(); ++i) {
      const std::string path = absl::StrCat("encoder.layers.", i);
      const graph::ValueRef residual = x;
      x = Attend(absl::StrCat(path, ".self_attn"), x, x, {side.self_attention_heads[i], true, graph::ValueRef::None()});
      x = Dropout(path, x, kDropout);
      const std::string rows = absl::StrCat(":", net_.Dim(x, 0), ", :, :");
      const graph::ValueRef sum = net_.Add(residual, net_.GetItem(x, rows, path), path);
      x = net_.CallInPlace(graph::Op::setitem, {{"index", rows}}, {x, sum}, path);
      x = Norm(absl::StrCat(path, ".self_attn_layer_norm"), x);
      x = FeedForward(path, x, side.ffn_embed_dim[i]);
      layers.push_back(x);
    }
    return layers;
  }

  graph::ValueRef Decode(graph::ValueRef tokens, const std::vector<graph::ValueRef>& encoder) {
    const HatSide& side = config_.decoder;
    const graph::ValueRef positions = Positions("decoder", tokens, side.embed_dim);
    graph::ValueRef x = Embed("decoder", tokens, tgt_embedding_, side.embed_dim);
    x = net_.AddInPlace(x, positions, "decoder");
    x = Transpose01("decoder", Dropout("decoder", x, kDropout));
    const int64_t length = net_.Dim(x, 0);
    const graph::ValueRef mask = net_.Constant({1, length, length}, "decoder.future_mask");
    for (size_t i = 0; i < side.ffn_embed_dim.size(); ++i) {
      const std::string path = absl::StrCat("decoder.layers.", i);
      graph::ValueRef memory = encoder.back();
      if (const int64_t reach = config_.arbitrary_ende_attn[i]; reach > 0) {
        memory = net_.Cat({encoder.rbegin(), encoder.rbegin() + reach + 1}, 0, "decoder");
      }
      graph::ValueRef y = Attend(absl::StrCat(path, ".self_attn"), x, x, {side.self_attention_heads[i], false, mask});
      y = Dropout(path, y, kDropout);
      x = Norm(absl::StrCat(path, ".self_attn_layer_norm"), net_.Add(x, y, path));
      y = Attend(absl::StrCat(path, ".encoder_attn"), x, memory,
                 {config_.ende_attention_heads[i], true, graph::ValueRef::None()});
      y = Dropout(path, y, kDropout);
      x = Norm(absl::StrCat(path, ".encoder_attn_layer_norm"), net_.Add(x, y, path));
      x = FeedForward(path, x, side.ffn_embed_dim[i]);
    }
    x = Transpose01("decoder", x);
    return net_.Call(graph::Op::linear, {}, {x, Columns("decoder", output_, side.embed_dim)}, "decoder");
  }

  graph::NetBuilder& net_;
  const HatConfig& config_;
  const Task& task_;
  const int64_t qkv_dim_;
  graph::ValueRef src_embedding_, tgt_embedding_, output_;
};

}  // namespace

absl::StatusOr<graph::Graph> BuildHat(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(const int index,
                         request.options.Choice("task", 0, {"wmt14ende", "wmt14enfr", "wmt19ende", "iwslt14deen"}));
  Task task = kTasks[index];
  COBRA_ASSIGN_OR_RETURN(task.src_vocab, request.options.Int("src_vocab", task.src_vocab, 4, 10000000));
  COBRA_ASSIGN_OR_RETURN(
      task.tgt_vocab,
      request.options.Int("tgt_vocab", task.share_all_embeddings ? task.src_vocab : task.tgt_vocab, 4, 10000000));
  if (task.tgt_vocab != task.src_vocab) task.share_all_embeddings = false;
  COBRA_ASSIGN_OR_RETURN(const int64_t src_len, request.options.Int("src_len", task.length, 1, kMaxPositions));
  COBRA_ASSIGN_OR_RETURN(const int64_t tgt_len, request.options.Int("tgt_len", task.length, 1, kMaxPositions));
  COBRA_ASSIGN_OR_RETURN(const int64_t qkv_dim, request.options.Int("qkv_dim", 512, 1, 65536));
  graph::TensorType src{{1, src_len}, graph::DType::int64}, tgt{{1, tgt_len}, graph::DType::int64};
  if (!request.inputs.empty()) {
    if (request.inputs.size() != 2) return UsageError("--input: this network takes two, 1x30:int64 twice");
    src = request.inputs[0];
    tgt = request.inputs[1];
    for (const graph::TensorType& type : {src, tgt}) {
      if (type.rank() != 2 || type.dtype != graph::DType::int64 || type.shape[1] < 1 || type.shape[1] > kMaxPositions) {
        return UsageError(absl::StrCat("--input ", graph::TypeText(type), ": sentences expected, such as 1x30:int64"));
      }
    }
  }
  COBRA_ASSIGN_OR_RETURN(const HatConfig config, ParseHatConfig(request.text, qkv_dim));
  graph::NetBuilder net(request.BuilderOptions());
  const graph::ValueRef src_tokens = net.Input(src.shape, src.dtype, "src_tokens");
  const graph::ValueRef tgt_tokens = net.Input(tgt.shape, tgt.dtype, "prev_output_tokens");
  const graph::ValueRef output = Transformer(net, config, task, qkv_dim).Run(src_tokens, tgt_tokens);
  return std::move(net).Finish({output});
}

}  // namespace cobra::nas
