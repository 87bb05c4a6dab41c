// The memory of activations over time: each tensor is alive from the operator that creates it to
// its last use.
//
// Views and in-place operators share the memory of their argument. Inputs stay, because the caller
// holds them, and so do the results of the model. Parameters, buffers and constants are not
// activations. A tensor is freed after its last use, but not before the modules it was passed into
// have returned: the caller of a module holds its arguments until then (CPython keeps them on its
// stack). tmeter's own executor has no such callers (ArgumentLifetime::kLastUse). Variables that a
// forward keeps longer than needed, and memory that kernels allocate (workspaces, packed weights),
// are not visible: the value is a lower bound for an eager run, within the tolerance of
// tests/models/test_peak.py.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace memory {

struct Storage {
  tmeter::Node maker;  // none for an input of the model
  tmeter::Count bytes = 0;
  uint32_t first = 0, last = 0;  // nodes, both inclusive
  uint32_t input = 0;            // index of that input
};

struct Lifetimes {
  std::vector<Storage> storages;
  std::vector<tmeter::Count> alive;  // bytes while each node runs
  bool complete = true;              // false: some tensor could not be sized
};

/// Bytes that a node allocates; empty if unknown.
using AllocatedBytes = std::function<std::optional<tmeter::Count>(const tmeter::Node&)>;

/// The argument whose memory a result shares; empty if it has its own, or this is unknown.
using AliasedArgument = std::function<std::optional<size_t>(const tmeter::Node&, size_t result)>;

/// The time at which an argument is freed.
enum class ArgumentLifetime {
  kCallsReturn,  // when the modules that it was passed into have returned, as in an eager run
  kLastUse       // after its last use, as in tmeter's executor
};

/// If a node's plugin gives other bytes than those of its results, they are divided among the
/// results in proportion to their sizes.
Lifetimes lifetimes(const tmeter::Graph& graph, const AllocatedBytes& made,
                    const AliasedArgument& shared,
                    ArgumentLifetime until = ArgumentLifetime::kCallsReturn);

/// The first node at which most bytes are alive. `alive` must not be empty.
size_t peak_of(const Lifetimes& l);

}  // namespace memory
