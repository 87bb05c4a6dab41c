// Schemas that need not be made yet: stand-ins, told by an overload name that no operator can have.
#pragma once
#include <ATen/core/op_registration/infer_schema.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libtorch.hpp"

namespace tmeter::torch_backend::start {

// No longer than a string keeps in itself: there are 18,000.
constexpr std::string_view kUnparsed = "tmeter?", kUnparsedWithVariables = "tmeter?types";
constexpr std::string_view kInferred = "tmeter#";

bool is_unparsed(const c10::FunctionSchema& schema);

/// As LibTorch does it.
c10::FunctionSchema parse(const std::string& text, bool allow_typevars);

/// The schema that a stand-in has the text of.
c10::FunctionSchema parsed(c10::FunctionSchema&& schema);

/// Places in LibTorch's code that parse a schema and hand it on to a library, always: Library::def,
/// through which nearly all of them come. A place is known by the address its call returns to, and
/// it is trusted when it has done nothing else for two dozen times.
class DefinitionSites {
 public:
  bool known(const void* site) {
    const auto found = seen_.find(site);
    return found != seen_.end() && found->second >= kEnough;
  }
  void parsed_at(const void* site, const c10::FunctionSchema& schema) {
    forget();
    last_site_ = site;
    last_ = schema.operator_name();
  }
  void defined(const c10::FunctionSchema& schema) {
    if (last_site_ && schema.operator_name() == last_) {
      auto& times = seen_[last_site_];
      if (times >= 0) ++times;
      last_site_ = nullptr;
    }
    forget();
  }
  /// The schema parsed last went somewhere else.
  void forget() {
    if (last_site_) seen_[last_site_] = -1;
    last_site_ = nullptr;
  }

 private:
  static constexpr int kEnough = 24;
  std::map<const void*, int> seen_;  // how often, or -1: does other things, too
  const void* last_site_ = nullptr;
  c10::OperatorName last_{"", ""};
};

DefinitionSites& definition_sites();

/// The C++ types that kernels take and give, from which their schemas are inferred, one after the
/// other.
struct KernelTypes {
  struct Kernel {
    size_t begin, returns, end;
  };
  std::vector<c10::detail::infer_schema::ArgumentDef> types;
  std::vector<Kernel> kernels;
};

KernelTypes& kernel_types();

/// As LibTorch does it.
c10::FunctionSchema infer(c10::ArrayRef<c10::detail::infer_schema::ArgumentDef> arguments,
                          c10::ArrayRef<c10::detail::infer_schema::ArgumentDef> returns);

constexpr size_t kNone = ~size_t{0};

/// Which of kernel_types() a schema stands in for.
size_t stands_for(const std::unique_ptr<c10::FunctionSchema>& schema);
std::unique_ptr<c10::FunctionSchema> inferred(size_t which);
/// In place of a stand-in, what it stands in for.
void complete(std::unique_ptr<c10::FunctionSchema>& schema);

}  // namespace tmeter::torch_backend::start
