// A stack of alike layers over tokens: embedding, layers, norm, head.
#include <algorithm>
#include <charconv>

#include "parts.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;
using tmeter::DType;

const Names kEmbedding{"embed_tokens",    "wte",         "word_embeddings", "embed_in",
                       "tok_embeddings",  "embeddings",  "token_embedding", "w",
                       "input_embedding", "tokens_embed"};
const Names kPositions{"wpe", "embed_positions", "position_embeddings", "positions_embed"};
const Names kEmbeddingNorm{"word_embeddings_layernorm", "embedding_norm", "LayerNorm", "embed_norm",
                           "emb_norm"};
const Names kFinalNorm{"norm",           "ln_f",      "final_layernorm",  "final_layer_norm",
                       "norm_f",         "layernorm", "output_layernorm", "layer_norm",
                       "embedding_norm", "ln_out"};
const Names kHead{"lm_head", "embed_out", "output_projection"};
const Names kAttention{"self_attn", "attn", "attention", "self_attention", "multi_head_attention",
                       "self_att"};
const Names kFeedForward{"mlp", "feed_forward", "ffn", "block_sparse_moe", "moe"};
// Norms of a layer by what they stand before or behind.
const Names kBeforeAttention{"input_layernorm",
                             "ln_1",
                             "attention_layernorm",
                             "operator_norm",
                             "layernorm1",
                             "ln_attn",
                             "attention_norm",
                             "self_attn_layer_norm",
                             "layernorm_before",
                             "layer_norm1",
                             "norm1",
                             "norm_1",
                             "attn_norm"};
const Names kBeforeFeedForward{"pre_feedforward_layernorm",
                               "ln_2",
                               "ffn_norm",
                               "layernorm2",
                               "pre_mlp_layernorm",
                               "feedforward_layernorm",
                               "pre_ff_layernorm",
                               "ln_mlp",
                               "final_layer_norm",
                               "layernorm_after",
                               "layer_norm2",
                               "norm2",
                               "norm_2",
                               "mlp_norm"};
const Names kBehindAttention{"post_self_attn_layernorm", "post_operator_norm", "post_norm1"};
const Names kBehindFeedForward{"post_feedforward_layernorm", "post_mlp_layernorm", "post_ffn_norm",
                               "post_norm2"};
// What a layer has that predicts a further token from the last one (DeepSeek-V3, 2.2).
const Names kPredictor{"eh_proj", "enorm", "hnorm"};
constexpr std::string_view kPostAttention =
    "post_attention_layernorm";  // before the MLP, or behind the attention

/// Children 0, 1, 2, …, experts excepted: the layers.
bool is_stack(const Module& m) {
  if (m.child_count() == 0 || m.name() == "experts" || m.tensor_count() > 0) return false;
  for (size_t i = 0; i < m.child_count(); ++i) {
    if (m.child(i).name() != std::to_string(i)) return false;
    if (m.child(i).child_count() == 0) return false;
  }
  return true;
}

void find_stacks(const Module& m, std::vector<Module>& out) {
  if (is_stack(m)) return out.push_back(m);
  for (size_t i = 0; i < m.child_count(); ++i) find_stacks(m.child(i), out);
}

Module the_stack(const Module& root, bool& is_one_of_several) {
  std::vector<Module> stacks;
  find_stacks(root, stacks);
  if (stacks.size() == 1) return stacks.front();
  // Of a model with a tower for images or sound, what a prompt of text alone runs.
  std::vector<Module> text;
  for (const auto& s : stacks)
    if (s.path().find("language_model.") != std::string_view::npos) text.push_back(s);
  if (text.size() == 1) {
    is_one_of_several = true;
    return text.front();
  }
  std::string names;
  for (const auto& s : stacks) names += (names.empty() ? "" : ", ") + std::string(s.path());
  throw NotUnderstood(stacks.empty() ? "no stack of layers is among the weights"
                                     : "there are several stacks of layers: " + names);
}

/// At most one of them; the other norms decide which stand before and behind.
struct LayerNorms {
  Module before_attention, behind_attention, before_ffn, behind_ffn;
};

LayerNorms norms_of(const Module& layer) {
  LayerNorms n{first_child(layer, kBeforeAttention), first_child(layer, kBehindAttention),
               first_child(layer, kBeforeFeedForward), first_child(layer, kBehindFeedForward)};
  if (const auto post = find_child(layer, kPostAttention)) {
    if (n.before_ffn || !n.before_attention)
      n.behind_attention = post;
    else
      n.before_ffn = post;
  }
  return n;
}

class Decoder {
 public:
  Decoder(Model& model, const tmeter::Graph& weights)
      : model_(model),
        p_(model.program),
        root_(weights.modules()[0]),
        stack_(the_stack(root_, text_alone_)) {}

  void write() {
    const auto count = layer_count();
    const auto base = stack_.parent();
    const auto ids = p_.input("input_ids", DType(TMETER_DTYPE_INT64), {p_.batch(), p_.sequence()});
    Value x;
    {
      const Program::Calling calling(p_, base, "");
      const bool inside = base.name() == "encoder" || base.name() == "decoder";
      const auto owner = inside && base.parent() ? base.parent() : base;
      x = embed(owner, base, ids);
      for (size_t i = 0; i < count; ++i) x = layer(stack_.child(i), i, x);
      if (const auto norm = first_child(base, kFinalNorm)) x = p_.norm(norm, x);
    }
    x = head(x);
    x = unread(x, count);
    if (!model_.family)
      x = p_.unknown("transformers::" + std::string(model_.settings.text({"model_type"})), x, {});
    p_.output(x);
  }

  /// Patches of an image by a convolution, the layers over them, and a classifier of the first
  /// token.
  void write_image() {
    const auto count = layer_count();
    const auto base =
        stack_.parent().name() == "encoder" ? stack_.parent().parent() : stack_.parent();
    Value x;
    {
      const Program::Calling calling(p_, base, "");
      x = embed_image(base);
      for (size_t i = 0; i < count; ++i) x = layer(stack_.child(i), i, x);
      if (const auto norm = first_child(base, kFinalNorm)) x = p_.norm(norm, x);
    }
    const auto classifier = find_child(root_, "classifier");
    if (classifier) {
      const auto first = p_.node("aten::select", {{"self", x.id}}, {x.dims[0], x.dims[2]}, x.dtype);
      x = p_.linear(classifier, first);
    }
    p_.output(unread(x, count));
  }

 private:
  Value embed_image(const Module& base) {
    const auto m = find_child(base, "embeddings");
    const auto patches = first_child(m, {"patch_embeddings", "patch_embedding"});
    const auto projection =
        find_child(patches, "projection") ? find_child(patches, "projection") : patches;
    const auto weight = find_tensor(projection, "weight");
    if (!weight || weight.shape().rank() != 4)
      throw NotUnderstood("no convolution makes patches of an image");
    const auto side = model_.settings.integer({"image_size"}),
               patch = model_.settings.integer({"patch_size"});
    if (!side || !patch || *patch == 0)
      throw NotUnderstood(model_.settings.source() + " does not say image_size and patch_size");
    const auto shape = weight.shape();
    if (shape[2] != *patch || shape[3] != *patch)
      contradict(model_, "patch_size is " + std::to_string(*patch), weight);
    expect_if_checked(model_, kHidden, shape[0], weight);
    expect_if_checked(model_, {"num_channels"}, shape[1], weight);
    const Program::Calling calling(p_, m, "");
    const auto image = p_.input("pixel_values", p_.dtype(), {p_.batch(), shape[1], *side, *side});
    const int64_t along = *side / *patch, hidden = shape[0];
    auto x = p_.convolution(projection, image, {p_.batch(), hidden, along, along}, *patch);
    x = p_.transpose(p_.view(x, {p_.batch(), hidden, along * along}), 1, 2);
    int64_t tokens = along * along;
    for (const auto name : {"cls_token", "distillation_token"}) {
      const auto token = find_tensor(m, name);
      if (!token) continue;
      p_.use(token);
      ++tokens;
    }
    x = p_.node("aten::cat", {{"tensors", p_.graph().list({x.id})}, {"dim", p_.graph().integer(1)}},
                {p_.batch(), tokens, hidden}, x.dtype);
    if (const auto positions = find_tensor(m, "position_embeddings")) {
      if (positions.shape().rank() != 3 || positions.shape()[1] != tokens)
        contradict(model_, "image_size and patch_size make " + std::to_string(tokens) + " tokens",
                   positions);
      x = p_.binary("aten::add", x, p_.bound(positions));
    }
    return x;
  }

  size_t layer_count() {
    const auto said = model_.settings.integer(kLayers);
    const auto there = static_cast<int64_t>(stack_.child_count());
    if (!said)
      throw NotUnderstood(model_.settings.source() + " does not say how many layers there are");
    if (*said > there || *said == 0)
      throw Contradiction(model_.settings.source() + ": " +
                          model_.settings.statement(kLayers, *said) + ", but the weights have " +
                          std::to_string(there) + " layers, " + std::string(stack_.path()) +
                          ".0 to " + std::to_string(there - 1));
    if (*said < there) {
      const auto next = model_.settings.integer({"num_nextn_predict_layers"}).value_or(0);
      bool predict = *said + next == there;
      for (auto i = *said; predict && i < there; ++i)
        predict = bool(first_child(stack_.child(static_cast<size_t>(i)), kPredictor));
      if (!predict)
        throw Contradiction(model_.settings.source() + ": " +
                            model_.settings.statement(kLayers, *said) + ", but the weights have " +
                            std::to_string(there) + " layers");
      model_.assume("num_nextn_predict_layers, " + std::to_string(next) +
                    ": the last layers predict further tokens and are not run");
    }
    return static_cast<size_t>(*said);
  }

  Value embed(const Module& owner, const Module& base, const Value& ids) {
    auto within = base;
    auto table = first_child(within, kEmbedding);
    if (!table) table = first_child(within = owner, kEmbedding);
    if (table && !is_matrix(table)) table = first_child(within = table, kEmbedding);
    if (!table || !is_matrix(table))
      throw NotUnderstood("no table of embeddings is among the weights");
    table_ = find_tensor(table, "weight");
    expect_stated(model_, kVocabulary, table_.shape()[0], table_);
    if (!first_child(owner, {"embeddings_project", "project_in"}))
      expect_stated(model_, kHidden, table_.shape()[1], table_);
    auto x = p_.embedding(table, ids);
    for (const auto& place :
         {first_child(within, kPositions),
          within.handle() == base.handle() ? Module() : first_child(base, kPositions)}) {
      if (!place || !is_matrix(place)) continue;
      const auto positions =
          p_.node("aten::arange", {}, {p_.sequence()}, DType(TMETER_DTYPE_INT64));
      x = p_.binary("aten::add", x, p_.embedding(place, positions));
      const auto rows = find_tensor(place, "weight");
      const auto offset = model_.is("positions-from-2") ? 2 : 0;
      expect_if_checked(model_, {"max_position_embeddings", "n_positions", "n_ctx"},
                        rows.shape()[0] - offset, rows);
    }
    if (const auto types = find_child(within, "token_type_embeddings"); types && is_matrix(types)) {
      const auto zeros =
          p_.node("aten::zeros", {}, {p_.batch(), p_.sequence()}, DType(TMETER_DTYPE_INT64));
      x = p_.binary("aten::add", x, p_.embedding(types, zeros));
      const auto rows = find_tensor(types, "weight");
      expect_if_checked(model_, {"type_vocab_size"}, rows.shape()[0], rows);
    }
    if (const auto norm = first_child(within, kEmbeddingNorm);
        norm && (first_child(base, kFinalNorm).handle() != norm.handle()))
      x = p_.norm(norm, x);
    return x;
  }

  Value layer(const Module& m, size_t i, const Value& x) {
    const Program::Calling calling(p_, m, "Layer");
    const auto attention = first_child(m, kAttention);
    if (!attention) throw NotUnderstood("'" + std::string(m.path()) + "' has no attention");
    if (find_child(m, "intermediate") && find_child(m, "output"))
      return bert_layer(m, attention, i, x);
    const auto ffn = first_child(m, kFeedForward);
    const auto first = find_child(m, "fc1"),
               second = find_child(m, "fc2");  // OPT has both in the layer
    if (!ffn && !(first && second))
      throw NotUnderstood("'" + std::string(m.path()) + "' has no MLP");
    const auto norms = norms_of(m);
    const auto normed = [&](const Module& norm, const Value& v) {
      return norm ? p_.norm(norm, v) : v;
    };
    const auto inner = normed(norms.before_attention, x);
    const auto attended =
        normed(norms.behind_attention, self_attention(model_, attention, inner, i));
    const bool parallel = !norms.before_ffn && !norms.behind_ffn && !norms.behind_attention;
    const auto between = parallel ? inner : p_.binary("aten::add", x, attended);
    const auto given = normed(norms.before_ffn, between);
    const auto fed = normed(norms.behind_ffn, ffn ? feed_forward(model_, ffn, given, i)
                                                  : flat_mlp(first, second, given, i));
    return p_.binary("aten::add", parallel ? p_.binary("aten::add", x, attended) : between, fed);
  }

  /// Of OPT, whose layers hold both matrices.
  Value flat_mlp(const Module& first, const Module& second, const Value& x, size_t i) {
    const auto wide = project(model_, first, x);
    expect_width(model_, find_tensor(first, "weight"), wide.back().number, i);
    return project(model_, second, p_.unary("aten::relu", wide));
  }

  /// Of BERT, and of ViT's checkpoints, whose norms come first.
  Value bert_layer(const Module& m, const Module& attention, size_t i, const Value& x) {
    const auto norms = norms_of(m);
    const auto normed = [&](const Module& norm, const Value& v) {
      return norm ? p_.norm(norm, v) : v;
    };
    const auto attended = p_.binary(
        "aten::add", self_attention(model_, attention, normed(norms.before_attention, x), i), x);
    const auto wide = p_.unary("aten::gelu", feed_forward(model_, find_child(m, "intermediate"),
                                                          normed(norms.before_ffn, attended), i));
    return p_.binary("aten::add", feed_forward(model_, find_child(m, "output"), wide, i), attended);
  }

  bool is_for(std::string_view what) const {
    const auto name = model_.settings.text_of_layer({"architectures"}, 0);
    return name.find(what) != name.npos;
  }

  Value head(const Value& x) {
    auto m = first_child(root_, kHead);
    if (m && is_matrix(m)) return p_.linear(m, x);
    const bool predicts = is_for("CausalLM") || is_for("LMHead") || is_for("MaskedLM") ||
                          is_for("ForConditionalGeneration");
    if (!predicts) {
      model_.assume("architectures names no language model: without a head");
      return x;
    }
    if (find_child(root_, "cls"))
      return masked_head(find_child(find_child(root_, "cls"), "predictions"), x);
    if (m && (find_child(m, "dense") || find_child(m, "layer_norm"))) return masked_head(m, x);
    if (model_.settings.has({"tie_word_embeddings"}) &&
        !model_.settings.flag({"tie_word_embeddings"}, true))
      throw Contradiction(
          model_.settings.source() +
          ": tie_word_embeddings is false, but there is no tensor 'lm_head.weight'");
    model_.assume("no tensor of a head: it is the embedding (tie_word_embeddings)");
    if (Size(table_.shape()[1]) != x.back())
      throw NotUnderstood("the head is not as wide as the layers");
    const auto bias = m ? find_tensor(m, "bias") : Tensor();
    if (m) {
      const Program::Calling calling(p_, m, "torch.nn.modules.linear.Linear");
      return p_.linear(x, table_, bias);
    }
    const Program::Calling calling(p_, root_, "lm_head", "torch.nn.modules.linear.Linear");
    return p_.linear(x, table_, bias);
  }

  /// BERT's and RoBERTa's: a product, a norm, then the embedding or a matrix of its own.
  Value masked_head(const Module& m, const Value& x) {
    if (!m) throw NotUnderstood("'cls' has no predictions");
    const Program::Calling calling(p_, m, "");
    const auto transform = find_child(m, "transform") ? find_child(m, "transform") : m;
    Value y = x;
    if (const auto dense = find_child(transform, "dense"))
      y = p_.unary("aten::gelu", p_.linear(dense, y));
    if (const auto norm = first_child(transform, {"LayerNorm", "layer_norm"})) y = p_.norm(norm, y);
    const auto decoder = find_child(m, "decoder");
    const auto own = decoder ? find_tensor(decoder, "weight") : Tensor();
    auto bias = find_tensor(m, "bias");
    if (decoder && find_tensor(decoder, "bias")) bias = find_tensor(decoder, "bias");
    return p_.linear(y, own ? own : table_, bias);
  }

  /// Parameters that no part has used: an unknown operator stands for each module of them.
  Value unread(Value x, size_t layers) {
    std::vector<Tensor> left;
    for (size_t i = layers; i < stack_.child_count(); ++i) use_all(stack_.child(i));
    collect(text_alone_ ? stack_.parent() : root_, left);
    if (text_alone_)
      model_.warnings.insert("the prompt is text alone: of this model of several towers, only " +
                             std::string(stack_.parent().path()) + " and the head are run");
    if (left.empty()) return x;
    model_.assume(std::to_string(left.size()) + " tensors are not understood, " +
                  std::string(left.front().name()) + " first");
    return p_.unknown("blueprint::not_understood", x, left);
  }

  void use_all(const Module& m) {
    for (size_t i = 0; i < m.tensor_count(); ++i) p_.use(m.tensor(i));
    for (size_t i = 0; i < m.child_count(); ++i) use_all(m.child(i));
  }

  void collect(const Module& m, std::vector<Tensor>& left) {
    for (size_t i = 0; i < m.tensor_count(); ++i)
      if (m.tensor(i).is_parameter() && !m.tensor(i).is_tied() && !p_.is_used(m.tensor(i)))
        left.push_back(m.tensor(i));
    for (size_t i = 0; i < m.child_count(); ++i) collect(m.child(i), left);
  }

  Model& model_;
  Program& p_;
  Module root_;
  bool text_alone_ = false;  // other towers are there, and are not run
  Module stack_;
  Tensor table_{};
};

}  // namespace

void write_decoder(Model& model, const tmeter::Graph& weights) {
  Decoder decoder(model, weights);
  model.is("image") ? decoder.write_image() : decoder.write();
}

}  // namespace blueprint
