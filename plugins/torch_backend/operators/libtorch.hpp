// Everything of LibTorch this folder uses, in one place.
#pragma once
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/builtin_functions.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import_source.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/csrc/jit/serialization/unpickler.h>
#include <torch/library.h>
#include <torch/version.h>

#include <tmeter/cpp/plugin.hpp>

#include "operators/tried_versions.hpp"

namespace tmeter::torch_backend {

/// Says in the report that nobody tried this version of LibTorch, if that is so.
inline void note_untried_version(const Call& call) {
  const auto note = untried_version(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
  if (!note.empty()) call.warn(note);
}

}  // namespace tmeter::torch_backend
