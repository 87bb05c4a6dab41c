// Operators whose result lies in the storage of an argument.
#pragma once
#include <optional>
#include <tmeter/cpp/plugin.hpp>

#include "layout.hpp"
#include "settings.hpp"

namespace training {

/// Whether a dropout is active: in training with a rate above 0.
bool drops_out(const tmeter::Node& node, const Settings& settings);

enum class Sharing { kFresh, kView };

/// Whether the results are views of the first tensor argument, which has these strides. A reshape
/// that has to copy, a conversion to another type and an active dropout are fresh.
Sharing sharing_of(const tmeter::Node& node, const tmeter::Value& base, DimSpan strides,
                   const Settings& settings);

/// Strides of a result of a view.
Dims strides_of_view(const tmeter::Node& node, const tmeter::Value& base, DimSpan strides,
                     const tmeter::Value& result);

}  // namespace training
