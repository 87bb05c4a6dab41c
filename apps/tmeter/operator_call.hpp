// The text of an operator call, for `tmeter plugin check --call`:
//
//   acme::mlp(x=f32[4,8,32], w=f32[32,64], dims=[1, 2], fast=true) -> f32[4,8,64], i64[]
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/builder.hpp"

namespace tmeter::app {

struct CallValue {
  int32_t kind = 0;   // TMETER_VALUE_…: TENSOR, INT, FLOAT, BOOL, TEXT, LIST, NONE
  int32_t dtype = 0;  // of a tensor
  std::vector<int64_t> dims;
  int64_t i = 0;  // INT, BOOL
  double f = 0;
  std::string text;
  std::vector<CallValue> items;
};

struct CallArgument {
  std::string name;  // empty: positional
  CallValue value;
};

struct OperatorCall {
  std::string text;  // in the user's notation
  std::string op;    // "acme::mlp", "acme::mlp.out"
  std::vector<CallArgument> arguments;
  std::vector<CallValue> results;  // after "->"; empty: not given
};

/// Throws Error(kUsage) with the defect and its place.
OperatorCall parse_call(const std::string& text);

/// The value in a graph; its tensors have no producer, like inputs of a model.
core::GraphBuilder::Id add_value(core::GraphBuilder& builder, const CallValue& value);

}  // namespace tmeter::app
