// Longformer's attention as transformers has it: tokens are padded to whole windows. Chunks of a
// window, each half a window after the previous one, see themselves and their neighbours. No token
// has global attention, which is an argument of the caller.
#include <algorithm>

#include "parts.hpp"

namespace blueprint {
namespace {

const Keys kWindows{"attention_window"};

int64_t window_of(const Model& model, size_t layer) {
  const auto& s = model.settings;
  const auto window = s.integer_of_layer(kWindows, layer);
  if (!window)
    throw UnsupportedStructure(s.source() + " lacks attention_window of layer " +
                               std::to_string(layer));
  if (*window == 0 || *window % 2 != 0)
    throw Contradiction(s.source() + ": attention_window is " + std::to_string(*window) +
                        ", not an even number of tokens");
  return *window;
}

}  // namespace

bool slides_by_chunks(const Model& model, const Module& m) {
  return model.is("sliding-chunks") && find_child(m, "query_global");
}

Value in_whole_windows(Model& model, const Value& x) {
  if (!model.is("sliding-chunks")) return x;
  auto& p = model.program;
  model.window = 0;
  for (size_t i = 0; i < std::max<size_t>(1, model.settings.length(kWindows)); ++i)
    model.window = std::max(model.window, window_of(model, i));
  model.windows = p.derived(TMETER_EXPR_CEILDIV, x.dims[1], model.window);
  model.assume("no token has global attention (global_attention_mask)");
  return p.node("aten::constant_pad_nd", {{"self", x.id}},
                {x.dims[0], model.windows * model.window, x.back()}, x.dtype);
}

Value without_filling(Model& model, const Value& x, const Size& tokens) {
  if (!model.is("sliding-chunks")) return x;
  return model.program.node("aten::slice", {{"self", x.id}}, {x.dims[0], tokens, x.back()},
                            x.dtype);
}

Value attend_by_chunks(Model& model, const Module& m, const Value& q, const Value& k,
                       const Value& v, size_t layer) {
  auto& p = model.program;
  const auto window = window_of(model, layer), half = window / 2;
  if (model.window % window != 0)
    throw UnsupportedStructure("attention_window differs between layers, and " +
                               std::to_string(model.window) + " is not a multiple of " +
                               std::to_string(window));
  for (const auto name : {"query_global", "key_global", "value_global"})
    if (const auto unused = find_child(m, name)) use_all(model, unused);
  const Size rows = q.dims[0] * q.dims[1], halves = model.windows * (model.window / half),
             chunks = p.derived(TMETER_EXPR_ADD, halves, -1);
  const auto cut = [&](const Value& x, const Size& number, int64_t tokens) {
    return p.node("aten::as_strided", {{"self", x.id}}, {rows, number, tokens, x.back()}, x.dtype);
  };
  const auto scores = p.einsum("bcxd,bcyd->bcxy", cut(q, chunks, window), cut(k, chunks, window),
                               {rows, chunks, window, window});
  // The mask takes the same path, as vectors of one element.
  const auto mask = p.node("aten::ones", {}, {q.dims[0], chunks, window, 1}, q.dtype);
  p.einsum("bcxd,bcyd->bcxy", mask, mask, {q.dims[0], chunks, window, window});
  const auto shares =
      p.node("aten::softmax", {{"self", scores.id}}, {rows, halves, half, 3 * half}, scores.dtype);
  const auto y =
      p.einsum("bcwd,bcdh->bcwh", shares, cut(v, halves, 3 * half), {rows, halves, half, v.back()});
  return p.view(y, q.dims);
}

}  // namespace blueprint
