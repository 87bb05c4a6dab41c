// Refuses hostile TorchScript files, which would run code while they are loaded, touch files or
// processes when they run, or crash LibTorch's parser.
#pragma once
#include <string>
#include <string_view>

#include "operators/libtorch_jit.hpp"

namespace tmeter::torch_backend {

class ModelFile;

/// Throws TMETER_REFUSED, because this class would run code while the file is loaded.
[[noreturn]] void refuse_setstate(const std::string& file, const c10::ClassType& cls);

/// Throws TMETER_BAD_MODEL if `value`, or an item of it, is an object of another class than in
/// `type`: compiled code accesses attributes of objects unchecked.
void check_classes(const c10::IValue& value, const c10::Type& type, const std::string& name);

/// Throws TMETER_BAD_MODEL for a source file that must not be parsed (archive/checks.hpp).
void check_source(std::string_view text, const std::string& path);

/// Throws TMETER_BAD_MODEL if a tuple has too many values, those of nested tuples included.
void check_tuples(const torch::jit::CompilationUnit& code);

/// Throws TMETER_REFUSED if a function of the file uses an operator that a file may not use
/// (torchscript/review/review.hpp). Operators that were only declared have no effect. Must be
/// called before anything of the file runs.
void check_operators(const ModelFile& file);

}  // namespace tmeter::torch_backend
