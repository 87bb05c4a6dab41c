#include <gtest/gtest.h>
#include <tmeter/abi/graph.h>

#include "core/ir/builder.hpp"
#include "core/module_description/module_description.hpp"
#include "core/module_description/module_text.hpp"

namespace tmeter::core {
namespace {

using Types = std::vector<std::string>;

/// A Sequential of modules of these types; "Linear:8" has a weight of 8 rows.
std::unique_ptr<Graph> sequential(const Types& types) {
  GraphBuilder b;
  const auto root = b.module(0, "", "net.Net");
  size_t i = 0;
  for (const auto& type : types) {
    const auto colon = type.find(':');
    const auto name = std::to_string(i++);
    const auto m = b.module(root, name, "torch.nn.modules." + type.substr(0, colon));
    if (colon == type.npos) continue;
    const std::vector<int64_t> dims{std::stoll(type.substr(colon + 1)), 4};
    const auto weight = name + ".weight";
    TensorSpec spec;
    spec.kind = TMETER_TENSOR_PARAMETER;
    spec.dtype = TMETER_DTYPE_FLOAT32;
    spec.name = weight;
    spec.owner = m;
    spec.dims = dims;
    b.tensor(spec);
  }
  return b.finish();
}

std::vector<std::array<size_t, 3>> runs(const Types& types) {
  const auto graph = sequential(types);
  const auto repeats = find_repeats(*graph, module_texts(*graph).whole);
  std::vector<std::array<size_t, 3>> out;  // child, window, times
  for (size_t i = 0; i < repeats.size(); ++i)
    if (repeats[i].times) out.push_back({i - 1, repeats[i].window, repeats[i].times});
  return out;
}

using Runs = std::vector<std::array<size_t, 3>>;

TEST(Repeats, EqualSiblingsAreOneRun) {
  EXPECT_EQ(runs({"Linear:8", "Linear:8", "Linear:8"}), (Runs{{0, 1, 3}}));
}

TEST(Repeats, WindowsOfSeveralModules) {
  EXPECT_EQ(runs({"Linear:8", "ReLU", "Linear:6", "Linear:8", "ReLU", "Linear:6", "Linear:8",
                  "ReLU", "Linear:6"}),
            (Runs{{0, 3, 3}}));
}

TEST(Repeats, TheShortestWindowThatCoversMost) {
  EXPECT_EQ(runs({"ReLU", "ReLU", "ReLU", "ReLU"}), (Runs{{0, 1, 4}}));
  EXPECT_EQ(runs({"Linear:8", "ReLU", "Linear:8", "ReLU"}), (Runs{{0, 2, 2}}));
}

TEST(Repeats, OtherShapesAreOtherModules) {
  EXPECT_EQ(runs({"Linear:8", "Linear:6", "Linear:8"}), Runs{});
}

TEST(Repeats, SeveralRunsInOneParent) {
  EXPECT_EQ(runs({"ReLU", "ReLU", "Linear:3", "Tanh", "Tanh", "Tanh"}),
            (Runs{{0, 1, 2}, {3, 1, 3}}));
}

}  // namespace
}  // namespace tmeter::core
