// Memory that one operator's backward takes: whether the gradient of an argument is that of the
// result, or new, and which temporaries its formula makes.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "gradients.hpp"
#include "settings.hpp"

namespace training {

/// The gradient of the argument lies in the storage of the result's gradient.
bool shares_gradient(const tmeter::Node& node, std::string_view argument,
                     const tmeter::Value& value);

/// The largest number of bytes beside the gradients themselves.
tmeter::Count backward_temporaries(const tmeter::Node& node, const Gradients& gradients,
                                   const Settings& settings);

}  // namespace training
