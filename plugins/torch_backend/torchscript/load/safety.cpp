#include "torchscript/load/safety.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "operators/missing_operators.hpp"
#include "torchscript/archive/checks.hpp"
#include "torchscript/load/model_file.hpp"
#include "torchscript/load/names.hpp"
#include "torchscript/primitives/guards.hpp"
#include "torchscript/review/review.hpp"

namespace tmeter::torch_backend {
namespace {

std::string_view refusal_of_node(const torch::jit::Node& node, const Declarations& declared) {
  const std::string_view name = node.kind().toQualString();
  if (declared.contains(name) || is_of_operator_library(name) || name.starts_with("tmeter::"))
    return {};
  const auto* op = node.maybeOperator();
  if (!op) return refusal_of_construct(name);  // the language itself: branches, calls, tuples
  return refusal(op->schema(), kind_of(*op));
}

struct Refused {
  std::string op;
  std::string_view reason;
};

/// The first operator below `block` that a file may not use.
std::optional<Refused> find_refused(torch::jit::Block* block, const Declarations& declared) {
  for (auto* node : block->nodes()) {
    const auto reason = refusal_of_node(*node, declared);
    if (!reason.empty()) return Refused{node->kind().toQualString(), reason};
    for (auto* inner : node->blocks()) {
      if (auto found = find_refused(inner, declared)) return found;
    }
    if (node->hasAttribute(torch::jit::attr::Subgraph)) {
      auto* inner = node->g(torch::jit::attr::Subgraph)->block();
      if (auto found = find_refused(inner, declared)) return found;
    }
  }
  return std::nullopt;
}

/// Nested tuples share their items: sixty lines can make 2^60 values, too many to walk over.
class TupleSizes {
 public:
  /// The number of values in a tuple of this type. Throws if it is too large or nested too deeply.
  uint64_t of(const c10::TypePtr& type, int depth = 0) {
    if (type->kind() != c10::TypeKind::TupleType) return 1;
    if (const auto it = sizes_.find(type.get()); it != sizes_.end()) return it->second;
    uint64_t size = 1;
    for (const auto& item : type->containedTypes()) {
      if (depth < kMaxDepth) size += of(item, depth + 1);
    }
    if (size > kMaxSize || depth >= kMaxDepth) {
      throw Error(TMETER_BAD_MODEL, "the model makes a tuple of more than " +
                                        std::to_string(kMaxSize) + " values, or nested more than " +
                                        std::to_string(kMaxDepth) + " deep");
    }
    return sizes_[type.get()] = size;
  }

  void check(torch::jit::Block* block) {
    for (auto* node : block->nodes()) {
      for (const auto* output : node->outputs()) of(output->type());
      for (auto* inner : node->blocks()) check(inner);
    }
  }

 private:
  static constexpr uint64_t kMaxSize = 100'000;
  static constexpr int kMaxDepth = 100;
  std::unordered_map<const c10::Type*, uint64_t> sizes_;  // the graphs keep the types
};

constexpr const char* kTrust = " Use --trust only if you would run this file as a program.";

}  // namespace

void refuse_setstate(const std::string& file, const c10::ClassType& cls) {
  const auto name = last_part(plain_type_name(cls));
  throw Error(TMETER_REFUSED, file + " runs code while it is loaded (class " + name +
                                  " defines __setstate__)." + kTrust);
}

namespace {

bool holds_objects(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::ClassType || type.kind() == c10::TypeKind::InterfaceType)
    return true;
  const auto& inner = type.containedTypes();
  return std::any_of(inner.begin(), inner.end(), [](const auto& t) { return holds_objects(*t); });
}

}  // namespace

void check_classes(const c10::IValue& value, const c10::Type& type, const std::string& name) {
  using Kind = c10::TypeKind;
  const auto kind = type.kind();
  bool fits = true;
  if (kind == Kind::ClassType || kind == Kind::InterfaceType) {
    fits = value.isObject() && value.type()->isSubtypeOf(type);
  } else if (kind == Kind::OptionalType && !value.isNone()) {
    return check_classes(value, *type.containedTypes()[0], name);
  } else if (kind == Kind::TupleType) {
    const auto& types = type.containedTypes();
    fits = value.isTuple() && value.toTupleRef().elements().size() == types.size();
    for (size_t i = 0; fits && i < types.size(); ++i)
      check_classes(value.toTupleRef().elements()[i], *types[i], name);
  } else if (kind == Kind::ListType && holds_objects(*type.containedTypes()[0])) {
    fits = value.isList();
    for (size_t i = 0; fits && i < value.toListRef().size(); ++i)
      check_classes(value.toListRef()[i], *type.containedTypes()[0], name);
  } else if (kind == Kind::DictType) {
    fits = value.isGenericDict();
    if (fits) {
      for (const auto& entry : value.toGenericDict())
        check_classes(entry.value(), *type.containedTypes()[1], name);
    }
  }
  if (!fits) {
    throw Error(TMETER_BAD_MODEL,
                "the archive is damaged: '" + name + "' has another type than in its class");
  }
}

void check_source(std::string_view text, const std::string& path) {
  const auto reason = reason_to_refuse(text);
  if (!reason.empty()) throw Error(TMETER_BAD_MODEL, "'" + path + "' " + std::string(reason));
}

void check_tuples(const torch::jit::CompilationUnit& code) {
  TupleSizes sizes;
  for (auto* function : code.get_functions()) {
    const auto* graph_function = torch::jit::tryToGraphFunction(*function);
    if (graph_function) sizes.check(graph_function->graph()->block());
  }
}

void check_operators(const ModelFile& file) {
  for (auto* function : file.code().get_functions()) {
    const auto* graph_function = torch::jit::tryToGraphFunction(*function);
    if (!graph_function) continue;
    const auto found = find_refused(graph_function->graph()->block(), file.declarations());
    if (!found) continue;
    throw Error(TMETER_REFUSED, file.archive().path() + " uses the operator " + found->op + " in " +
                                    plain_name(function->qualname().qualifiedName()) + ", which " +
                                    std::string(found->reason) + "." + kTrust);
  }
}

}  // namespace tmeter::torch_backend
