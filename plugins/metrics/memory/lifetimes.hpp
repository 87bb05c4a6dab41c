// How much memory activations take at each moment: from when each tensor is made until it is last
// used.
//
// Views and in-place operators share the memory of their argument. Inputs stay, because the caller
// holds them, and so does what the model returns. Parameters, buffers and constants are not
// activations. A tensor is freed after its last use, but not before the modules it was passed into
// have returned: whoever calls a module holds its arguments until then (CPython keeps them on its
// stack). tmeter's own executor has nobody who holds them (Until::kLastUse). Names that a forward
// keeps longer than it needs, and what a kernel allocates for itself (workspaces, packed weights),
// are not seen: the figure is a lower bound of what an eager run takes, within the tolerance that
// tests/models/test_peak.py states.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace memory {

struct Storage {
  tmeter::Node maker;  // none: it is an input of the model
  tmeter::Count bytes = 0;
  uint32_t first = 0, last = 0;  // nodes, both inclusive
  uint32_t input = 0;            // number of that input
};

struct Lifetimes {
  std::vector<Storage> storages;
  std::vector<tmeter::Count> alive;  // bytes while each node runs
  bool complete = true;              // false: some tensor could not be sized
};

/// Bytes that a node newly takes; empty when nobody knows.
using Made = std::function<std::optional<tmeter::Count>(const tmeter::Node&)>;

/// The argument whose memory a result has; empty when the result has its own, or nobody says.
using SharedWith =
    std::function<std::optional<size_t>(const tmeter::Node&, size_t result)>;

/// When an argument is given up.
enum class Until {
  kCallsReturn,  // not before the modules that it was passed into have returned, as in an eager run
  kLastUse       // at once, as tmeter's executor does
};

/// A node that makes other than its results' bytes – its plugin says so – has them divided among
/// its results in proportion to their sizes.
Lifetimes lifetimes(const tmeter::Graph& graph, const Made& made, const SharedWith& shared,
                    Until until = Until::kCallsReturn);

/// The node at which most is alive; the first of several. `alive` is not empty.
size_t peak_of(const Lifetimes& l);

}  // namespace memory
