// Which modules tables show: all, or by `--only trainable` those with something to train.
#pragma once
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

/// By index, whether the module is shown: with `--only trainable` the root, and the modules that
/// hold trainable parameters, themselves or inside.
std::vector<bool> chosen_modules(const tmeter::Report& report);

}  // namespace reports
