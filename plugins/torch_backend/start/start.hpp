// LibTorch's short start, as the rest of this folder sees it: operators are entered when they are
// asked for. start.cpp tells how. Where there is no short start, all are there from the beginning.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::torch_backend::start {

/// Does it as soon as the operator of this name is entered: now, if it is, or if there is none.
void when_entered(std::string_view name, std::function<void()> what);

/// Everything, for code that LibTorch's hooks are not bound in: operator libraries.
void enter_all();

/// Names of TorchScript's own operators (prim::, and some of aten::), entered or not, none of them
/// twice.
std::vector<std::string> script_operators();

/// How many names have not been asked for.
size_t names_left();

}  // namespace tmeter::torch_backend::start
