#include "same_padding.hpp"

#include <algorithm>

namespace tmeter::resize {
namespace {

bool is_padded(const PaddedWindow& w) {
  return std::any_of(w.pads.begin(), w.pads.end(), [](const Pad& p) { return p != Pad{}; });
}

bool is_same_padded(const PaddedWindow& w) { return w.pads == same_pads(w.dims); }

/// A module of torch.nn keeps the padding it was constructed with.
bool keeps_attributes(const std::string& owner) { return owner.starts_with("torch.nn.modules."); }

/// "Conv2dSame", "Conv2dDynamicSamePadding"
bool is_named_same(const std::string& owner) {
  return owner.find("Same", owner.rfind('.') + 1) != std::string::npos;
}

}  // namespace

Pad same_pad(const WindowDim& d) {
  const int64_t results = (d.size + d.stride - 1) / d.stride;
  const int64_t total = (results - 1) * d.stride + (d.kernel - 1) * d.dilation + 1 - d.size;
  if (total <= 0) return {};
  return {total / 2, total - total / 2};
}

std::vector<Pad> same_pads(const std::vector<WindowDim>& dims) {
  std::vector<Pad> out;
  for (const auto& d : dims) out.push_back(same_pad(d));
  return out;
}

bool PaddingEvidence::Owner::varies_with_shape() const {
  return std::any_of(padded.begin(), padded.end(),
                     [&](const auto& other) { return other.second != padded.begin()->second; });
}

void PaddingEvidence::add(const PaddedWindow& w) {
  auto& owner = owners_[w.owner];
  if (!is_same_padded(w)) {
    (is_padded(w) ? owner.pads_otherwise : owner.unpadded) = true;
    return;
  }
  if (!is_padded(w) && !w.by_node) return;  // no evidence: most windows without padding fit
  Shape shape;
  for (const auto& d : w.dims) shape.insert(shape.end(), {d.kernel, d.stride, d.dilation});
  if (w.by_node) owner.by_node.emplace(shape, w.pads);
  const auto first = owner.padded.emplace(std::move(shape), w.pads).first;
  if (first->second != w.pads) owner.varies_with_size = true;
}

PaddingEstimate PaddingEvidence::estimate(const PaddedWindow& w) const {
  constexpr PaddingEstimate kSurelyFixed{PaddingKind::kFixed, true},
      kMaybeFixed{PaddingKind::kFixed, false}, kSurelySame{PaddingKind::kSame, true},
      kMaybeSame{PaddingKind::kSame, false};
  if (!is_same_padded(w) || keeps_attributes(w.owner)) return kSurelyFixed;
  const auto& owner = owners_.at(w.owner);
  if (owner.pads_otherwise) return kSurelyFixed;
  if (!is_padded(w) && !w.by_node) {
    // "valid", or "same" that needs no padding here.
    if (is_named_same(w.owner)) return kSurelySame;
    const bool computes = owner.varies_with_size || owner.varies_with_shape();
    if (!computes) return kSurelyFixed;
    return owner.unpadded ? kMaybeFixed : kMaybeSame;
  }
  if (is_named_same(w.owner) || owner.varies_with_size) return kSurelySame;
  // A pad of zeros, or another pad for each kernel, was computed. A fixed pad that is larger at the
  // end is usually a separate layer, not part of a convolution's module.
  const bool lopsided =
      std::any_of(w.pads.begin(), w.pads.end(), [](const Pad& p) { return p.before != p.after; });
  const bool computed =
      w.by_node && (!is_padded(w) || owner.varies_with_shape() || (lopsided && w.in_one_module));
  return computed ? kMaybeSame : kMaybeFixed;
}

}  // namespace tmeter::resize
