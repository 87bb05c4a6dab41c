// The layers of a model, and the table of embeddings before them.
#include "stack.hpp"

#include <algorithm>

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;
using tmeter::DType;

const Names kEmbedding{"embed_tokens",    "wte",          "word_embeddings", "embed_in",
                       "tok_embeddings",  "embeddings",   "token_embedding", "w",
                       "input_embedding", "tokens_embed", "shared"};
const Names kPositions{"wpe", "embed_positions", "position_embeddings", "positions_embed"};
// Tables of token types, and the keys of their rows.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"token_type_embeddings", "type_vocab_size"}, {"task_type_embeddings", "task_type_vocab_size"}};
const Names kEmbeddingNorm{
    "word_embeddings_layernorm", "embedding_norm", "LayerNorm", "embed_norm", "emb_norm",
    "layernorm_embedding",       "emb_ln"};
const Names kFinalNorm{"norm",           "ln_f",      "final_layernorm",  "final_layer_norm",
                       "norm_f",         "layernorm", "output_layernorm", "layer_norm",
                       "embedding_norm", "ln_out",    "post_layernorm"};
const Keys kMaxPositions{"max_position_embeddings", "n_positions", "n_ctx", "max_target_positions"};
// Modules of a layer that predicts a further token from the last one (DeepSeek-V3, 2.2).
const Names kPredictor{"eh_proj", "enorm", "hnorm"};

/// Children 0, 1, 2, …, experts excepted: the layers.
bool is_stack(const Module& m) {
  if (m.child_count() == 0 || m.name() == "experts" || m.tensor_count() > 0) return false;
  for (size_t i = 0; i < m.child_count(); ++i) {
    if (m.child(i).name() != std::to_string(i)) return false;
    if (m.child(i).child_count() == 0) return false;
  }
  return true;
}

void collect_stacks(const Module& m, std::vector<Module>& out) {
  if (is_stack(m)) return out.push_back(m);
  for (size_t i = 0; i < m.child_count(); ++i) collect_stacks(m.child(i), out);
}

/// The table of positions, each row added to the token of its position.
Value add_positions(Model& model, const Module& place, const Value& x) {
  auto& p = model.program;
  const auto rows = find_tensor(place, "weight");
  const auto offset = model.is("positions-from-2") ? 2 : 0;
  expect_if_checked(model, kMaxPositions, rows.shape()[0] - offset, rows);
  expect_if_checked(
      model,
      {model.bidirectional ? "max_encoder_position_embeddings" : "max_decoder_position_embeddings"},
      rows.shape()[0] - offset, rows);
  const auto positions = p.node("aten::arange", {}, {x.dims[1]}, DType(TMETER_DTYPE_INT64));
  return p.binary("aten::add", x, p.embedding(place, positions));
}

void collect_unread(const Program& p, const Module& m, std::vector<Tensor>& left) {
  for (size_t i = 0; i < m.tensor_count(); ++i)
    if (m.tensor(i).is_parameter() && !m.tensor(i).is_tied() && !p.is_used(m.tensor(i)))
      left.push_back(m.tensor(i));
  for (size_t i = 0; i < m.child_count(); ++i) collect_unread(p, m.child(i), left);
}

}  // namespace

bool has_tokens(const Module& m) {
  const auto table = first_child(m, kEmbedding);
  return table && is_matrix(table);
}

std::vector<Module> find_stacks(const Module& root) {
  std::vector<Module> stacks;
  collect_stacks(root, stacks);
  return stacks;
}

size_t layer_count(Model& model, const Module& stack, const Keys& key) {
  const auto& s = model.settings;
  auto stated = s.integer(key);
  // Nemotron-H names the layers and does not count them.
  if (const auto listed = s.length({"layers_block_type"}); !stated && listed > 0)
    stated = static_cast<int64_t>(listed);
  for (const std::string_view list : {"layer_types", "layers_block_type", "mlp_layer_types"})
    if (const auto kinds = s.length({list});
        model.family && stated && kinds > 0 && static_cast<int64_t>(kinds) < *stated)
      throw Contradiction(s.source() + ": " + s.statement(key, *stated) + ", but " +
                          std::string(list) + " is for " + std::to_string(kinds) + " layers");
  const auto there = static_cast<int64_t>(stack.child_count());
  const auto next = s.integer({"num_nextn_predict_layers"}).value_or(0);
  const auto is_predictor = [&](int64_t i) {
    return bool(first_child(stack.child(static_cast<size_t>(i)), kPredictor));
  };
  // GGUF counts layers that predict further tokens, config.json does not; files may lack them.
  if (stated && next > 0 && *stated - next == there && there > 0 && !is_predictor(there - 1))
    stated = there;
  if (!stated) throw UnsupportedStructure(s.source() + " does not state the number of layers");
  if (*stated > there || *stated == 0)
    throw Contradiction(s.source() + ": " + s.statement(key, *stated) + ", but the weights have " +
                        std::to_string(there) + " layers, " + std::string(stack.path()) + ".0 to " +
                        std::to_string(there - 1));
  auto run = *stated;
  if (run == there && next > 0 && next < there && is_predictor(there - 1)) run -= next;
  if (run == there) return static_cast<size_t>(run);
  bool predict = run + next == there;
  for (auto i = run; predict && i < there; ++i) predict = is_predictor(i);
  if (!predict)
    throw Contradiction(s.source() + ": " + s.statement(key, *stated) + ", but the weights have " +
                        std::to_string(there) + " layers");
  model.assume(std::string(s.name({"num_nextn_predict_layers"})) + ", " + std::to_string(next) +
               ": the last layers predict further tokens and are not run");
  return static_cast<size_t>(run);
}

Value embed(Model& model, const Module& owner, const Module& base, const Value& ids) {
  auto& p = model.program;
  auto within = base;
  auto table = first_child(within, kEmbedding);
  if (!table) table = first_child(within = owner, kEmbedding);
  if (table && !is_matrix(table)) table = first_child(within = table, kEmbedding);
  if (!table || !is_matrix(table))
    throw UnsupportedStructure("no table of embeddings is among the weights");
  model.table = find_tensor(table, "weight");
  const Keys own{"decoder_vocab_size"};  // Marian's decoder may have another vocabulary
  expect_stated(model, base.name() == "decoder" && model.settings.has(own) ? own : kVocabulary,
                model.table.shape()[0], model.table);
  // Narrower vectors of tokens, widened after all tables (ELECTRA) or at once (OPT-350M).
  const auto widened = find_child(owner, "embeddings_project"),
             widened_at_once = find_child(base, "project_in");
  if (!widened && !widened_at_once)
    expect_stated(model, kHidden, model.table.shape()[1], model.table);
  expect_if_checked(model, {"word_embed_proj_dim"}, model.table.shape()[1], model.table);
  expect_if_checked(model, {"embedding_size"}, model.table.shape()[1], model.table);
  auto x = model.tokens = p.embedding(table, ids);
  if (widened_at_once) x = project(model, widened_at_once, x);
  for (const auto& place :
       {first_child(within, kPositions),
        within.handle() == base.handle() ? Module() : first_child(base, kPositions)})
    if (place && is_matrix(place)) x = add_positions(model, place, x);
  for (const auto& [name, key] : kTypes) {
    const auto types = find_child(within, name);
    if (!types || !is_matrix(types)) continue;
    const auto zeros = p.node("aten::zeros", {}, ids.dims, DType(TMETER_DTYPE_INT64));
    x = p.binary("aten::add", x, p.embedding(types, zeros));
    const auto rows = find_tensor(types, "weight");
    expect_if_checked(model, {key}, rows.shape()[0], rows);
  }
  for (const auto& place : {within, base, owner})
    if (const auto norm = first_child(place, kEmbeddingNorm);
        norm && first_child(base, kFinalNorm).handle() != norm.handle() &&
        !p.is_used(first_tensor(norm, kNormWeight)))
      x = p.norm(norm, x);
  return widened ? project(model, widened, x) : x;
}

Value final_norm(Model& model, const Module& base, const Value& x) {
  const auto norm = first_child(base, kFinalNorm);
  return norm ? model.program.norm(norm, x) : x;
}

void use_all(Model& model, const Module& m) {
  for (size_t i = 0; i < m.tensor_count(); ++i) model.program.use(m.tensor(i));
  for (size_t i = 0; i < m.child_count(); ++i) use_all(model, m.child(i));
}

void finish(Model& model, const Module& within, const Value& x) {
  auto& p = model.program;
  auto y = x;
  std::vector<Tensor> left;
  collect_unread(p, within, left);
  if (!left.empty()) {
    model.assume(std::to_string(left.size()) + " tensors are not understood, " +
                 std::string(left.front().name()) + " first");
    y = p.unknown("blueprint::not_understood", y, left);
  }
  if (!model.family)
    // The suffix avoids operators with the name of a model type, such as aten::clip.
    y = p.unknown("transformers::" + std::string(model.settings.text({"model_type"})) + "_model", y,
                  {});
  p.output(y);
}

}  // namespace blueprint
