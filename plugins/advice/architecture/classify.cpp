#include "classify.hpp"

#include <algorithm>
#include <cstdio>
#include <tmeter/cpp/units.hpp>
#include <vector>

namespace architecture {
namespace {

using tmeter::OpClass;

// The smallest share of MACs that makes a network convolutional or recurrent: a stem or a patch
// embedding does not make a transformer convolutional.
constexpr double kMinConvolutionShare = 0.2;
constexpr double kMinRecurrentShare = 0.2;

std::string kind_of(const Profile& p) {
  if (p.total_macs == 0) return "not a network: nothing is multiplied";
  const bool recurs = p.share(OpClass::kRecurrent) >= kMinRecurrentShare;
  const bool attends = p.attentions > 0;
  // Depthwise convolutions take few MACs, but in a ConvNeXt nothing else mixes positions.
  const bool convolves =
      p.share(OpClass::kConvolution) >= kMinConvolutionShare ||
      (!recurs && !attends && 4 * p.mixing_convolutions > p.calls_of(OpClass::kMatmul));
  if (convolves + recurs + attends > 1) {
    std::string parts;
    for (const auto& [is, name] : {std::pair{convolves, "convolutions"},
                                   {recurs, "recurrent layers"},
                                   {attends, "attention"}})
      if (is) parts += (parts.empty() ? "" : " and ") + std::string(name);
    return "hybrid network of " + parts;
  }
  return convolves                                             ? "convolutional network"
         : recurs                                              ? "recurrent network"
         : attends                                             ? "transformer"
         : p.layers_of_weights == p.calls_of(OpClass::kMatmul) ? "multilayer perceptron"
                                                               : "network of matrix products";
}

struct Size {
  double below;  // MACs
  const char* text;
};
constexpr Size kSizes[]{{1e8, "tiny, below 100 MMACs"},
                        {1e9, "small, 100 MMACs to 1 GMAC"},
                        {1e10, "medium, 1 to 10 GMACs"},
                        {1e11, "large, 10 to 100 GMACs"}};

std::string size_of(const Profile& p) {
  for (const auto& s : kSizes)
    if (p.total_macs < s.below) return s.text;
  return "very large, 100 GMACs or more";
}

/// "99.9 % of the MACs in 53 convolutions"
std::string share_text(const Profile& p, OpClass c) {
  char number[16];
  std::snprintf(number, sizeof number, "%.1f", 100 * p.share(c));
  return std::string(number) + " % of the MACs in " + std::to_string(p.calls_of(c)) + " × " +
         std::string(tmeter::name_of(c));
}

}  // namespace

Verdict classify(const Profile& p) {
  std::vector<OpClass> working;
  for (size_t i = 0; i < Profile::kClasses; ++i)
    if (p.macs[i] > 0) working.push_back(static_cast<OpClass>(i));
  std::stable_sort(working.begin(), working.end(),
                   [&](OpClass a, OpClass b) { return p.share(a) > p.share(b); });
  std::string evidence;
  for (const auto c : working) evidence += (evidence.empty() ? "" : ", ") + share_text(p, c);
  if (p.attentions) evidence += ", " + std::to_string(p.attentions) + " attentions";
  evidence += ", longest chain " + std::to_string(p.depth) + " operators";
  return {kind_of(p), size_of(p), evidence};
}

}  // namespace architecture
