// The head after the layers: scores of the vocabulary, or of classes.
#include <algorithm>
#include <iterator>

#include "stack.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;

const Names kHead{"lm_head", "embed_out", "output_projection", "proj_out"};
const Names kNorm{"LayerNorm", "layer_norm", "norm"};
// Tasks whose classes pool the tokens; models without a task do, too.
constexpr std::string_view kPooling[] = {"SequenceClassification", "MultipleChoice",
                                         "NextSentencePrediction", "PreTraining"};

Value first_token(Program& p, const Value& x) {
  return p.node("aten::select",
                {{"self", x.id}, {"dim", p.graph().integer(1)}, {"index", p.graph().integer(0)}},
                {x.dims[0], x.dims[2]}, x.dtype);
}

/// Multiplies by the module's matrix, or else by the table of embeddings. The module's bias
/// replaces the head's, which transformers stores as well and does not add.
Value by_table(Model& model, const Module& m, const Value& x, Tensor bias) {
  const auto own = m ? find_tensor(m, "weight") : Tensor();
  if (m && find_tensor(m, "bias")) {
    if (bias) model.program.use(bias);
    bias = find_tensor(m, "bias");
  }
  if (!own) return model.program.linear(x, model.table, bias);
  const Program::ModuleCallScope calling(model.program, m, "torch.nn.modules.linear.Linear");
  return model.program.linear(x, own, bias);
}

/// A product and a norm, then the embedding or another matrix (BERT, RoBERTa).
Value masked_head(Model& model, const Module& m, const Value& x) {
  if (!m) throw UnsupportedStructure("'cls' has no predictions");
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, m, "");
  const auto transform = find_child(m, "transform") ? find_child(m, "transform") : m;
  Value y = x;
  if (const auto dense = find_child(transform, "dense"))
    y = p.unary("aten::gelu", p.linear(dense, y));
  if (const auto norm = first_child(transform, kNorm)) y = p.norm(norm, y);
  return by_table(model, find_child(m, "decoder"), y, find_tensor(m, "bias"));
}

/// The same in modules side by side: DistilBERT's, ELECTRA's generator.
Value masked_head_in_parts(Model& model, const Module& dense, const Module& norm,
                           const Module& table, const Value& x) {
  auto& p = model.program;
  const auto y = p.unary("aten::gelu", p.linear(dense, x));
  return by_table(model, table, norm ? p.norm(norm, y) : y, Tensor());
}

/// One matrix, or two (RoBERTa's, ELECTRA's).
Value classes(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  if (is_matrix(m)) return p.linear(m, x);
  const auto dense = find_child(m, "dense"), out = first_child(m, {"out_proj", "dense_prediction"});
  if (!dense || !out)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' is not a classifier");
  const Program::ModuleCallScope calling(p, m, "");
  return p.linear(out, p.unary("aten::tanh", p.linear(dense, x)));
}

bool pools(const Model& model, const Module& classifier) {
  if (!is_for(model, "For")) return true;
  return !find_child(classifier, "dense") &&
         std::any_of(std::begin(kPooling), std::end(kPooling),
                     [&](auto task) { return is_for(model, task); });
}

}  // namespace

bool is_for(const Model& model, std::string_view task) {
  const auto name = model.settings.text_of_layer({"architectures"}, 0);
  return name.find(task) != name.npos;
}

bool is_generator(const Model& model) {
  return is_for(model, "CausalLM") || is_for(model, "LMHead") ||
         is_for(model, "ForConditionalGeneration") || is_for(model, "MTModel");
}

Value head(Model& model, const Module& root, const Module& base, const Value& x) {
  auto& p = model.program;
  const auto& s = model.settings;
  auto m = first_child(root, kHead);
  // In a model with several towers, the head is beside the layers of text.
  for (auto above = base; !m && above; above = above.parent()) m = first_child(above, kHead);
  if (m && is_matrix(m)) return p.linear(m, x);
  if (!is_generator(model) && !is_for(model, "MaskedLM") && !is_for(model, "PreTraining")) {
    model.assume("architectures names no language model: without a head");
    return x;
  }
  if (find_child(root, "cls"))
    return masked_head(model, find_child(find_child(root, "cls"), "predictions"), x);
  if (const auto dense = find_child(root, "vocab_transform"))
    return masked_head_in_parts(model, dense, find_child(root, "vocab_layer_norm"),
                                find_child(root, "vocab_projector"), x);
  if (const auto generator = find_child(root, "generator_predictions"))
    return masked_head_in_parts(model, find_child(generator, "dense"),
                                find_child(generator, "LayerNorm"),
                                find_child(root, "generator_lm_head"), x);
  if (m && (find_child(m, "dense") || find_child(m, "layer_norm"))) return masked_head(model, m, x);
  if (s.has({"tie_word_embeddings"}) && !s.flag({"tie_word_embeddings"}, true))
    throw Contradiction(s.source() +
                        ": tie_word_embeddings is false, but there is no tensor 'lm_head.weight'");
  model.assume("no tensor of a head: it is the embedding (tie_word_embeddings)");
  if (Size(model.table.shape()[1]) != x.back())
    throw UnsupportedStructure("the head is not as wide as the layers");
  const auto bias = m ? find_tensor(m, "bias") : Tensor();
  if (m) {
    const Program::ModuleCallScope calling(p, m, "torch.nn.modules.linear.Linear");
    return p.linear(x, model.table, bias);
  }
  const Program::ModuleCallScope calling(p, root, "lm_head", "torch.nn.modules.linear.Linear");
  return p.linear(x, model.table, bias);
}

Value head_of_task(Model& model, const Module& root, const Module& base, const Module& owner,
                   const Value& x) {
  auto& p = model.program;
  const auto classifier = find_child(root, "classifier");
  Value whole{};
  if (const auto pooler = find_child(owner, "pooler")) {
    const auto dense = find_child(pooler, "dense");
    if (dense && pools(model, classifier)) {
      const Program::ModuleCallScope calling(p, pooler, "");
      whole = p.unary("aten::tanh", p.linear(dense, first_token(p, x)));
    } else {
      use_all(model, pooler);
      model.assume("the class that architectures names does not run the pooler");
    }
  }
  const auto relation = find_child(find_child(root, "cls"), "seq_relationship");
  if (relation && whole.id == 0) {
    use_all(model, relation);
  } else if (relation) {
    const auto of_whole = p.linear(relation, whole);
    if (is_for(model, "NextSentencePrediction")) return of_whole;
  }
  for (const auto name : {"qa_outputs", "score", "discriminator_predictions"})
    if (const auto of_tokens = find_child(root, name)) return classes(model, of_tokens, x);
  if (!classifier) return head(model, root, base, x);
  if (is_for(model, "TokenClassification")) return classes(model, classifier, x);
  if (whole.id == 0) whole = first_token(p, x);
  // DINOv2 concatenates the mean of all patches.
  if (const auto w = find_tensor(classifier, "weight");
      w && w.shape().rank() == 2 && w.shape()[1] == 2 * x.back().number)
    whole = p.concat(whole, p.node("aten::mean", {{"self", x.id}, {"dim", p.graph().integer(1)}},
                                   whole.dims, x.dtype));
  if (const auto before = find_child(root, "pre_classifier"))
    whole = p.unary("aten::relu", p.linear(before, whole));
  return classes(model, classifier, whole);
}

}  // namespace blueprint
