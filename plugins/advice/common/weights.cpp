#include "plugins/advice/common/weights.hpp"

#include <set>
#include <tmeter/cpp/op_class.hpp>

namespace advice {

double fixed_bytes(const tmeter::Node& node, const plugins::DependsOnInputs& depends_on_inputs) {
  const auto kind = tmeter::op_class(node.op());
  if (kind == tmeter::OpClass::kEmbedding || kind == tmeter::OpClass::kGather) return 0;
  std::set<const void*> known;
  double bytes = 0;
  plugins::for_each_input(node, [&](const tmeter::Value& v) {
    if (depends_on_inputs(v)) return;
    const auto t = v.tensor();
    const void* id =
        t ? static_cast<const void*>(t.canonical().handle()) : static_cast<const void*>(v.handle());
    if (known.insert(id).second) bytes += plugins::bytes_of(v);
  });
  return bytes;
}

}  // namespace advice
