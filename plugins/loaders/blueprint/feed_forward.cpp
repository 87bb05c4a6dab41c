#include <algorithm>
#include <charconv>

#include "parts.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;

const Names kGateHalf{"gate_proj", "w1", "gate", "linear_gate", "wi_0", "fc12"};
const Names kUpHalf{"up_proj", "w3", "linear_v", "wi_1", "fc11"};
const Names kBack{"down_proj", "w2", "linear_1", "wo", "fc2"};
const Names kGateUp{"gate_up_proj", "input_linear", "fused_gate_up",
                    "gate_up",      "up_gate_proj", "weights_in"};
const Names kFirst{"fc1", "c_fc",     "dense_h_to_4h", "fc_in", "up_proj", "lin1",
                   "w1",  "dense_in", "intermediate",  "0",     "wi",      "intermediate_dense",
                   "wi_1"};
const Names kSecond{"fc2", "c_proj",    "dense_4h_to_h", "fc_out", "down_proj", "lin2",
                    "w2",  "dense_out", "output_linear", "2",      "wo",        "output_dense"};
const Names kRouter{"gate", "router", "wg"};
const Names kShared{"shared_experts", "shared_expert", "shared_mlp"};
const Names kSharedGate{"shared_expert_gate"};
const Names kExpertGate{"gate_proj", "w1", "linear"};
const Names kExpertUp{"up_proj", "w3", "linear_v"};
const Names kInnerNorm{"ffn_sub_norm", "ffn_layernorm"};

/// One MLP: gated, gated with both halves in one matrix, or plain. False for other modules.
bool mlp(Model& model, const Module& m, const Value& x, size_t layer, Role role, Value& out) {
  auto& p = model.program;
  const auto act = activation(model);
  if (const auto own = find_child(m, "act_fn"))
    use_all(model, own);  // Apertus: parameters of a curve
  const auto inner = [&](const Value& v) {
    const auto norm = first_child(m, kInnerNorm);
    return norm ? p.norm(norm, v) : v;
  };
  if (const auto both = first_child(m, kGateUp); both && is_matrix(both)) {
    const auto down = first_child(m, {"down_proj", "output_linear", "w2", "weights_out"});
    if (!down) return false;
    const auto y = adapted(model, m, "gate_up_proj_adapter_list", x, project(model, both, x));
    if (y.back().number % 2 != 0)
      throw Contradiction("'" + std::string(both.path()) +
                          "' has an odd number of rows for two halves");
    expect_width(model, find_tensor(both, "weight"), y.back().number / 2, layer, role);
    const auto halves = p.split(y, {y.back().number / 2, y.back().number / 2});
    out = project(model, down, inner(p.binary("aten::mul", p.unary(act, halves[0]), halves[1])));
    return true;
  }
  const auto gate = first_child(m, kGateHalf), up = first_child(m, kUpHalf),
             down = first_child(m, kBack);
  if (gate && up && down && is_matrix(gate) && is_matrix(up)) {
    const auto g = p.unary(act, project(model, gate, x));
    const auto u = project(model, up, x);
    expect_width(model, find_tensor(gate, "weight"), g.back().number, layer, role);
    expect_width(model, find_tensor(up, "weight"), u.back().number, layer, role);
    if (g.back() != u.back())
      throw Contradiction("'" + std::string(gate.path()) + "' and '" + std::string(up.path()) +
                          "' differ in width");
    out = project(model, down, inner(p.binary("aten::mul", g, u)));
    return true;
  }
  const auto first = first_child(m, kFirst), second = first_child(m, kSecond);
  if (first && second && is_matrix(first) && is_matrix(second)) {
    const auto wide = project(model, first, x);
    expect_width(model, find_tensor(first, "weight"), wide.back().number, layer, role);
    out = project(model, second, inner(p.unary(act, wide)));
    return true;
  }
  return false;
}

struct Experts {
  int64_t number = 0;
  std::vector<std::vector<Tensor>> first;  // each a stack, or one tensor per expert
  std::vector<Tensor> last;
  std::vector<Tensor> biases;
  int64_t hidden = 0;  // between both
  bool fused = false;
};

int64_t rows_of(const Module& m) {
  const auto w = find_tensor(m, "weight");
  if (!w || w.shape().rank() != 2)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no matrix");
  return w.shape()[0];
}

/// `t` is [experts, a, b]. One of a and b is `in`; returns the other one.
int64_t other_side(const Tensor& t, int64_t in) {
  const auto s = t.shape();
  if (s[2] == in) return s[1];
  if (s[1] == in) return s[2];
  throw Contradiction("tensor '" + std::string(t.name()) + "' has no side of " +
                      std::to_string(in));
}

/// A tensor of the experts, or the weight of a module below, as in GGUF.
Tensor stack_of(const Module& m, const Names& names) {
  const auto t = first_tensor(m, names);
  return t ? t : find_tensor(first_child(m, names), "weight");
}

Experts stacked(const Module& m, int64_t in) {
  Experts e;
  auto up = stack_of(m, {"gate_up_proj", "gate_up", "w13", "input_linear", "fc1"});
  const auto down = stack_of(m, {"down_proj", "w2", "output_linear", "fc2"});
  if (!up) up = stack_of(m, {"up_proj", "w1", "w3"});
  if (!up || !down || up.shape().rank() != 3 || down.shape().rank() != 3)
    throw UnsupportedStructure("the experts of '" + std::string(m.path()) + "' are not understood");
  e.number = up.shape()[0];
  e.hidden = other_side(down, in);
  const auto wide = other_side(up, in);
  e.fused = wide == (Size(e.hidden) * 2).number;
  if (!e.fused && wide != e.hidden)
    throw Contradiction("tensor '" + std::string(up.name()) + "' makes " + std::to_string(wide) +
                        " numbers of a token for '" + std::string(down.name()) + "', which takes " +
                        std::to_string(e.hidden) + ", or twice as many");
  e.first.push_back({up});
  if (const auto gate = stack_of(m, {"gate_proj"}); gate && !e.fused) e.first.push_back({gate});
  e.last.push_back(down);
  for (const auto name : {"gate_up_proj_bias", "down_proj_bias", "up_proj_bias", "gate_proj_bias"})
    if (const auto b = find_tensor(m, name)) e.biases.push_back(b);
  for (const auto name : {"gate_up_proj", "down_proj", "up_proj", "gate_proj"})
    if (const auto b = find_tensor(find_child(m, name), "bias")) e.biases.push_back(b);
  return e;
}

/// A module for each expert.
Experts listed(const Module& m, int64_t in) {
  Experts e;
  e.number = static_cast<int64_t>(m.child_count());
  const bool gated = first_child(m.child(0), kExpertGate) && first_child(m.child(0), kExpertUp);
  e.first.resize(gated ? 2 : 1);
  for (size_t i = 0; i < m.child_count(); ++i) {
    const auto x = m.child(i);
    const auto weight = [&](const Names& names) {
      const auto t = find_tensor(first_child(x, names), "weight");
      if (!t || t.shape().rank() != 2)
        throw UnsupportedStructure("the experts of '" + std::string(m.path()) +
                                   "' are not understood");
      return t;
    };
    e.first[0].push_back(weight(gated ? kExpertGate : Names{"up_proj"}));
    if (gated) e.first[1].push_back(weight(kExpertUp));
    e.last.push_back(weight({"down_proj", "w2", "linear_1"}));
    e.hidden = e.first[0].front().shape()[0];
    if (e.first[0].back().shape()[1] != in)
      throw Contradiction("tensor '" + std::string(e.first[0].back().name()) + "' does not have " +
                          std::to_string(in) + " columns");
    for (const auto* t : {&e.first.front().back(), &e.first.back().back(), &e.last.back()})
      if (t->numel() != e.first[0].front().numel())
        throw UnsupportedStructure("the experts of '" + std::string(m.path()) + "' differ in size");
  }
  return e;
}

/// One value per expert that is added to its score for the choice; the last name is GGUF's.
bool is_of_choice(const Tensor& t) {
  const auto name = t.name();
  return name.ends_with("e_score_correction_bias") || name.ends_with("expert_bias") ||
         name.find(".exp_probs_b") != name.npos;
}

void mixture(Model& model, const Module& m, const Module& experts, const Value& x, Value& out,
             size_t layer) {
  auto& p = model.program;
  const auto& s = model.settings;
  auto chosen = s.integer_of_layer(kChosenExperts, layer);
  if (chosen && model.is("two-experts") && *chosen != 2) {  // sparsemixer() of transformers
    model.assume("two experts for each token, whatever num_experts_per_tok states");
    chosen = 2;
  }
  if (!chosen || *chosen == 0)
    throw UnsupportedStructure(s.source() + " does not state the number of experts per token");
  // Nemotron 3 sends tokens to its experts through a narrow vector.
  const auto narrow = find_child(m, "fc1_latent_proj"), wide = find_child(m, "fc2_latent_proj");
  if (bool(narrow) != bool(wide))
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has one of two latent projections");
  const auto in = narrow ? rows_of(narrow) : x.back().number;
  if (narrow) expect_if_checked(model, {"moe_latent_size"}, in, find_tensor(narrow, "weight"));
  const bool one_each(find_child(experts, "0"));
  const auto e = one_each ? listed(experts, in) : stacked(experts, in);
  if (const auto stated = s.integer_of_layer(kExperts, layer); stated && *stated != e.number)
    throw Contradiction(s.source() + ": " + s.statement(kExperts, *stated) + ", but '" +
                        std::string(experts.path()) + "' has " + std::to_string(e.number) +
                        " experts");
  if (*chosen > e.number)
    throw Contradiction(s.source() + ": " + s.statement(kChosenExperts, *chosen) +
                        ", more than the " + std::to_string(e.number) + " experts of '" +
                        std::string(experts.path()) + "'");
  expect_width(model, e.last.front(), e.hidden, layer, Role::kExpert);
  const auto shared = first_child(m, kShared);
  const auto beside = find_child(m.parent(), "shared_mlp");  // Granite: in the layer
  expect_shared(model, shared || beside, e.last.front(), layer);
  const Size tokens = x.dims[0] * x.dims[1];
  const auto flat = p.view(x, {tokens, x.back()});
  auto router = first_child(m, kRouter);
  if (router && !is_matrix(router)) router = first_child(router, {"gate", "layer", "classifier"});
  if (!router || !is_matrix(router))
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has experts but no router");
  const auto bias = find_tensor(router, "bias");
  Value scores;
  {
    const Program::ModuleCallScope calling(p, router, "torch.nn.modules.linear.Linear");
    scores =
        p.linear(flat, find_tensor(router, "weight"), bias && is_of_choice(bias) ? Tensor() : bias);
  }
  if (scores.back() != Size(e.number))
    throw Contradiction("tensor '" + std::string(find_tensor(router, "weight").name()) +
                        "' scores " + p.text(scores.back()) + " experts; there are " +
                        std::to_string(e.number));
  p.topk(p.node("aten::softmax", {{"self", scores.id}}, scores.dims, scores.dtype), *chosen);
  const auto given = narrow ? p.linear(narrow, flat) : flat;
  Value y;
  {
    const Program::ModuleCallScope calling(
        p, experts, one_each ? "torch.nn.modules.container.ModuleList" : "Experts");
    // Llama 4 of transformers gives every token to every expert, and multiplies by zero afterwards.
    const auto each_token = model.is("all-experts") ? e.number : *chosen;
    const auto rows = tokens * each_token;
    const auto sent =
        p.node("aten::index_select", {{"self", given.id}}, {rows, given.back()}, x.dtype);
    Value hidden;
    if (e.fused) {
      const auto both = p.experts(sent, e.first[0], e.number, rows, 2 * e.hidden);
      const auto halves = p.split(both, {e.hidden, e.hidden});
      hidden = p.binary("aten::mul", p.unary(activation(model), halves[0]), halves[1]);
    } else {
      hidden = p.unary(activation(model), p.experts(sent, e.first[0], e.number, rows, e.hidden));
      if (e.first.size() > 1)
        hidden =
            p.binary("aten::mul", hidden, p.experts(sent, e.first[1], e.number, rows, e.hidden));
    }
    const auto each = p.experts(hidden, e.last, e.number, rows, in);
    for (const auto& b : e.biases) p.binary("aten::add", each, p.bound(b));
    y = p.node("aten::sum", {{"self", p.view(each, {tokens, each_token, in}).id}}, {tokens, in},
               x.dtype);
  }
  if (wide) y = p.linear(wide, y);
  y = p.view(y, x.dims);
  if (shared) {
    Value z = feed_forward(model, shared, x, layer, Role::kShared);
    if (const auto gate = first_child(m, kSharedGate))
      p.unary("aten::sigmoid", project(model, gate, x));
    y = p.binary("aten::add", y, z);
  }
  // Biases of the choice take part in no product.
  for (const auto& owner : {m, router, find_child(m, "moe_statics"),
                            find_child(first_child(m, kRouter), "moe_statics")})
    for (size_t i = 0; owner && i < owner.tensor_count(); ++i)
      if (is_of_choice(owner.tensor(i))) p.use(owner.tensor(i));
  out = y;
}

}  // namespace

std::string activation(const Model& model) {
  const auto name = model.settings.text({"hidden_act", "hidden_activation", "activation_function",
                                         "mlp_hidden_act", "activation", "act_fn", "dense_act_fn"});
  if (name.starts_with("gelu")) return "aten::gelu";
  if (name == "relu" || name == "relu2") return "aten::relu";
  if (name == "tanh") return "aten::tanh";
  if (name == "sigmoid") return "aten::sigmoid";
  return "aten::silu";
}

Value feed_forward(Model& model, const Module& m, const Value& x, size_t layer, Role role) {
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, m, "");
  Value out;
  // Checkpoints of Granite have the stacks of experts in the mixture itself.
  const auto stack = find_tensor(find_child(m, "input_linear"), "weight");
  const auto experts = stack && stack.shape().rank() == 3 ? m : find_child(m, "experts");
  if (experts) {
    ++model.mixtures;
    mixture(model, m, experts, x, out, layer);
    return out;
  }
  if (mlp(model, m, x, layer, role, out)) return out;
  // BERT's: a product, then a norm.
  if (const auto dense = find_child(m, "dense"); dense && is_matrix(dense)) {
    out = project(model, dense, x);
    if (m.name() == "intermediate")
      expect_width(model, find_tensor(dense, "weight"), out.back().number, layer, role);
    if (const auto norm = find_child(m, "LayerNorm")) out = p.norm(norm, out);
    return out;
  }
  throw UnsupportedStructure("'" + std::string(m.path()) + "' is not a known MLP");
}

}  // namespace blueprint
