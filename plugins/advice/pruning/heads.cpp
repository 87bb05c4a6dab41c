#include "heads.hpp"

#include <array>
#include <cmath>

namespace pruning {
namespace {

struct Name {
  std::string_view ending;
  char part;
};
// transformers: Llama and its kin, OPT, BERT, ViT, DistilBERT.
constexpr std::array<Name, 15> kNames{{
    {"q_proj.weight", 'q'},
    {"k_proj.weight", 'k'},
    {"v_proj.weight", 'v'},
    {"o_proj.weight", 'o'},
    {"out_proj.weight", 'o'},
    {"self.query.weight", 'q'},
    {"self.key.weight", 'k'},
    {"self.value.weight", 'v'},
    {"output.dense.weight", 'o'},
    {"attention.query.weight", 'q'},
    {"q_lin.weight", 'q'},
    {"k_lin.weight", 'k'},
    {"v_lin.weight", 'v'},
    {"out_lin.weight", 'o'},
    {"wq.weight", 'q'},
}};

const Name* name_of(std::string_view tensor) {
  for (const auto& n : kNames)
    if (tensor.ends_with(n.ending) &&
        (tensor.size() == n.ending.size() || tensor[tensor.size() - n.ending.size() - 1] == '.'))
      return &n;
  return nullptr;
}

}  // namespace

bool is_projection(std::string_view name) { return name_of(name) != nullptr; }

std::string attention_of(std::string_view name, char& part) {
  const auto* n = name_of(name);
  if (!n) return {};
  part = n->part;
  return std::string(name.substr(0, name.size() - n->ending.size()));
}

std::vector<double> head_norms(const std::vector<double>& query_filters,
                               const std::vector<double>& output_inputs, int64_t head_size) {
  const auto n = static_cast<int64_t>(query_filters.size());
  if (head_size < 1 || n == 0 || n % head_size != 0 || output_inputs.size() != query_filters.size())
    return {};
  std::vector<double> out(static_cast<size_t>(n / head_size));
  for (size_t i = 0; i < query_filters.size(); ++i)
    out[i / static_cast<size_t>(head_size)] +=
        query_filters[i] * query_filters[i] + output_inputs[i] * output_inputs[i];
  for (auto& v : out) v = std::sqrt(v);
  return out;
}

}  // namespace pruning
