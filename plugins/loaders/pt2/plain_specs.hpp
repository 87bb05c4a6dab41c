// What stands once for each parameter or module beside the graph itself, as torch writes it: the
// inputs of the signature, and the calls of modules. Read from the text of a piece of their list.
#pragma once
#include <vector>

#include "plain_text.hpp"

namespace pt2 {

/// A parameter, buffer or constant among the inputs.
struct PlainSpec {
  int32_t kind = 0;  // TMETER_TENSOR_…
  std::string_view argument, name;
  bool persistent = true;
};

class PlainSpecs {
 public:
  /// The items between the commas of a list of inputs; 64 bytes behind the text are readable. False
  /// when the piece has to be read as a document: there is something else among them.
  bool read(std::string_view piece);

  std::vector<PlainSpec> specs;

 private:
  static bool spec(PlainText& text, PlainSpec& spec);
};

class PlainNames {
 public:
  /// The same of the tensors that a graph takes.
  bool read(std::string_view piece);

  std::vector<std::string_view> names;
};

class PlainCalls {
 public:
  /// The same of a list of calls of modules.
  bool read(std::string_view piece);

  std::vector<std::string_view> modules;
};

}  // namespace pt2
