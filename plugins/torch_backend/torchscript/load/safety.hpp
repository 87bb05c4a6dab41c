// What a hostile TorchScript file must not do: run code while it is loaded, touch files or
// processes when it runs, or take LibTorch's parser down.
#pragma once
#include <string>
#include <string_view>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

class ModelFile;

/// Throws TMETER_REFUSED: this class would run code while the file is loaded.
[[noreturn]] void refuse_code_at_load(const std::string& file, const c10::ClassType& cls);

/// Throws TMETER_BAD_MODEL when `value` is an object of another class than `type` says, alone or in a
/// container: compiled code reaches into objects without looking.
void check_classes(const c10::IValue& value, const c10::Type& type, const std::string& name);

/// Checks a source file before it is parsed, see archive/nesting.hpp.
void check_source(std::string_view text, const std::string& path);

/// Throws TMETER_BAD_MODEL when a tuple, its items followed wherever they occur, has too many
/// values.
void check_tuples(const torch::jit::CompilationUnit& code);

/// Throws TMETER_REFUSED when any function of the file uses an operator that a file may not use
/// (operators/review.hpp). Operators that were only declared do nothing. Nothing has run when this
/// is called.
void check_operators(const ModelFile& file);

}  // namespace tmeter::torch_backend
