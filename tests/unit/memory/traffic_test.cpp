// Bytes read, written and newly allocated by single operators: the rows of plugins/metrics/memory's
// README, by hand. A float32 element has 4 bytes, an index (int64) 8.
#include "plugins/metrics/memory/traffic.hpp"

#include <gtest/gtest.h>

#include <array>

#include "fake_host.hpp"

namespace {

using fake::op;

using Bytes = std::array<std::optional<int64_t>, 3>;  // read, written, newly allocated
constexpr auto kUnknown = std::nullopt;

Bytes traffic(const fake::Op& n) {
  return {n.count("read_bytes"), n.count("written_bytes"), n.count("output_bytes")};
}

tmeter_value indices(fake::Dims dims) { return fake::tensor(std::move(dims), TMETER_DTYPE_INT64); }
tmeter_value unsized(fake::Dims dims) {
  return fake::tensor(std::move(dims), TMETER_DTYPE_UNDEFINED);
}
tmeter_value list(std::vector<tmeter_value> items) {
  return {TMETER_VALUE_LIST, TMETER_DTYPE_UNDEFINED, {}, 0, {}, std::move(items)};
}

TEST(Traffic, InputsAreReadAndResultsWritten) {
  for (const auto name : {"aten::mul", "acme::mul"}) {
    auto n = op(name).tensor("self", {2, 3}).tensor("other", {3});
    EXPECT_EQ(traffic(n.number("alpha", 2).out({2, 3})), (Bytes{24 + 12, 24, 24})) << name;
  }
  EXPECT_EQ(traffic(op("aten::cat").tensors("tensors", {{2, 3}, {4, 3}}).out({6, 3})),
            (Bytes{24 + 48, 72, 72}));
  EXPECT_EQ(traffic(op("aten::topk").tensor("self", {9}).out({2}).out({2}, TMETER_DTYPE_INT64)),
            (Bytes{36, 8 + 16, 8 + 16}));
}

TEST(Traffic, TensorsWithoutASizeAreUnknownNotZero) {
  EXPECT_EQ(traffic(op("aten::mul").arg("self", unsized({2})).out({2})), (Bytes{kUnknown, 8, 8}));
  EXPECT_EQ(traffic(op("aten::mul").tensor("self", {2}).out({2}, TMETER_DTYPE_UNDEFINED)),
            (Bytes{8, kUnknown, kUnknown}));
}

TEST(Traffic, InPlaceOperatorsWriteTheirTargetAndAllocateNothing) {
  EXPECT_EQ(traffic(op("aten::relu_").tensor("self", {2, 3}).out({2, 3})), (Bytes{24, 24, 0}));
  EXPECT_EQ(traffic(op("aten::add_").tensor("self", {2, 3}).tensor("other", {3}).out({2, 3})),
            (Bytes{24 + 12, 24, 0}));
  EXPECT_EQ(
      traffic(op("acme::fused_").number("n", 1).tensor("self", {5}).tensor("w", {7}).out({5})),
      (Bytes{20 + 28, 20, 0}));
  EXPECT_EQ(traffic(op("acme::fused_").arg("self", unsized({5})).out({5})),
            (Bytes{kUnknown, kUnknown, 0}));
}

/// `x += y` of a scripted file. The neighbours without the i make a new tensor.
TEST(Traffic, PythonsInPlaceOperatorsAreInPlace) {
  const auto both = [](const char* name) {
    return traffic(op(name).tensor("self", {2, 3}).tensor("other", {3}).out({2, 3}));
  };
  for (const auto name : {"aten::__iadd__", "aten::__iand__.Tensor", "aten::__ilshift__",
                          "__ixor__", "acme::__ior__"})
    EXPECT_EQ(both(name), (Bytes{24 + 12, 24, 0})) << name;
  for (const auto name : {"aten::__and__", "aten::__lshift__.Tensor", "__or__", "__i::__xor__"})
    EXPECT_EQ(both(name), (Bytes{24 + 12, 24, 24})) << name;
}

TEST(Traffic, ForeachChangesAllTensorsOfItsFirstList) {
  auto n = op("aten::_foreach_add_").tensors("self", {{2}, {3}}).tensors("other", {{2}, {3}});
  EXPECT_EQ(traffic(n), (Bytes{40, 20, 0}));
  auto mixed = op("aten::_foreach_neg_").arg("self", list({fake::tensor({2}), {}, unsized({3})}));
  EXPECT_EQ(traffic(mixed), (Bytes{kUnknown, kUnknown, 0}));
}

TEST(Traffic, OutArgumentIsWrittenNotRead) {
  auto n = op("aten::add.out").tensor("self", {2, 3}).tensor("other", {2, 3});
  EXPECT_EQ(traffic(n.tensor("out", {2, 3}).out({2, 3})), (Bytes{48, 24, 0}));
}

TEST(Traffic, CopyOverwritesWithoutReadingTheTarget) {
  const auto half = fake::tensor({2, 3}, TMETER_DTYPE_FLOAT16);
  EXPECT_EQ(traffic(op("aten::copy_").tensor("self", {2, 3}).arg("src", half).out({2, 3})),
            (Bytes{12, 24, 0}));
  EXPECT_EQ(traffic(op("aten::copy").tensor("self", {2, 3}).arg("src", half).out({2, 3})),
            (Bytes{24 + 12, 24, 24}));
}

// --- scatters -----------------------------------------------------------------------------------

TEST(Traffic, ScatterWritesAsManyElementsAsItsSource) {
  auto put = op("aten::index_put_").tensor("self", {10, 4}).arg("indices", list({indices({3})}));
  put.tensor("values", {3, 4});
  EXPECT_EQ(traffic(put), (Bytes{24 + 48, 48, 0}));
  EXPECT_EQ(traffic(put.flag("accumulate")), (Bytes{24 + 48 + 48, 48, 0}));

  const auto scatter = [](const char* name, const char* source, fake::Dims dims) {
    auto n = op(name).tensor("self", {10}).number("dim", 0).arg("index", indices({6}));
    return traffic(n.tensor(source, std::move(dims)).out({10}));
  };
  for (const auto name : {"aten::scatter_", "aten::index_copy_", "aten::put_"})
    EXPECT_EQ(scatter(name, "source", {4}), (Bytes{48 + 16, 16, 0})) << name;
  for (const auto name :
       {"aten::scatter_add_", "aten::scatter_reduce_", "aten::index_add_", "aten::index_reduce_"})
    EXPECT_EQ(scatter(name, "src", {4}), (Bytes{48 + 16 + 16, 16, 0})) << name;
  EXPECT_EQ(scatter("aten::_index_put_impl_", "values", {4}), (Bytes{48 + 16, 16, 0}));
  // At most the size of the target; a scatter into a new tensor is an operator like any other.
  EXPECT_EQ(scatter("aten::scatter_", "src", {12}), (Bytes{48 + 48, 40, 0}));
  EXPECT_EQ(scatter("aten::scatter_add", "src", {4}), (Bytes{40 + 48 + 16, 40, 40}));
}

TEST(Traffic, ScatterOfAScalarWritesOneElementAnIndex) {
  auto n = op("aten::scatter_").tensor("self", {10}).number("dim", 0).arg("index", indices({6}));
  EXPECT_EQ(traffic(n.number("value", 1)), (Bytes{48, 24, 0}));
  auto rank0 = op("aten::index_put_").tensor("self", {10}).arg("indices", list({indices({3})}));
  EXPECT_EQ(traffic(rank0.tensor("values", {})), (Bytes{24 + 4, 40, 0}));  // an upper bound
}

TEST(Traffic, ScatteredElementsHaveTheTargetsType) {
  auto n = op("aten::index_add_").arg("self", fake::tensor({10}, TMETER_DTYPE_FLOAT16));
  n.arg("index", indices({4})).tensor("source", {4});
  EXPECT_EQ(traffic(n), (Bytes{32 + 16 + 8, 8, 0}));
}

TEST(Traffic, ScatterWithoutSizesIsUnknown) {
  auto target = op("aten::scatter_").arg("self", unsized({10})).arg("index", indices({6}));
  EXPECT_EQ(traffic(target.tensor("src", {6})), (Bytes{kUnknown, kUnknown, 0}));
  auto source = op("aten::scatter_").tensor("self", {10}).arg("index", indices({6}));
  EXPECT_EQ(traffic(source.arg("src", unsized({3}))), (Bytes{kUnknown, 24, 0}));
  auto adding = op("aten::scatter_add_").arg("self", unsized({10})).arg("index", indices({6}));
  EXPECT_EQ(traffic(adding.tensor("src", {6})), (Bytes{kUnknown, kUnknown, 0}));
}

// --- look-ups -----------------------------------------------------------------------------------

TEST(Traffic, EmbeddingsReadTheRowsTheyPick) {
  for (const auto name : {"aten::embedding", "aten::embedding_bag", "aten::_embedding_bag",
                          "aten::_embedding_bag_forward_only"}) {
    auto n = op(name).tensor("weight", {100, 8}).arg("indices", indices({2, 3})).out({2, 3, 8});
    EXPECT_EQ(traffic(n), (Bytes{48 + 6 * 32, 192, 192})) << name;
  }
  // A bag makes one row of many, but reads all of them.
  auto bag = op("aten::embedding_bag").tensor("weight", {100, 8}).arg("indices", indices({6}));
  EXPECT_EQ(traffic(bag.arg("offsets", indices({2})).out({2, 8})), (Bytes{48 + 16 + 192, 64, 64}));
}

TEST(Traffic, LookupsReadAsManyElementsAsComeOut) {
  for (const auto name :
       {"aten::index", "aten::_unsafe_index", "aten::index_select", "aten::gather", "aten::take",
        "aten::take_along_dim", "aten::masked_select"}) {
    auto n = op(name).tensor("self", {10, 4}).arg("index", indices({3})).out({3, 4});
    EXPECT_EQ(traffic(n), (Bytes{24 + 48, 48, 48})) << name;
  }
}

TEST(Traffic, LookupsReadNoMoreThanTheTableHas) {
  auto n = op("aten::embedding").tensor("weight", {2, 8}).arg("indices", indices({6}));
  EXPECT_EQ(traffic(n.out({6, 8})), (Bytes{48 + 64, 192, 192}));
  auto index = op("aten::index").tensor("self", {2}).arg("indices", list({{}, indices({6})}));
  EXPECT_EQ(traffic(index.out({6})), (Bytes{48 + 8, 24, 24}));
}

TEST(Traffic, LookupsWithoutSizesAreUnknown) {
  const auto embedding = [](tmeter_value weight, tmeter_value at) {
    return traffic(op("aten::embedding").arg("weight", weight).arg("indices", at).out({6, 8}));
  };
  EXPECT_EQ(embedding(unsized({9, 8}), indices({6})), (Bytes{kUnknown, 192, 192}));
  EXPECT_EQ(embedding(fake::tensor({9, 8}), unsized({6})), (Bytes{kUnknown, 192, 192}));
  auto n = op("aten::gather").tensor("self", {9}).arg("index", indices({3}));
  EXPECT_EQ(traffic(n.out({3}, TMETER_DTYPE_UNDEFINED)), (Bytes{kUnknown, kUnknown, kUnknown}));
}

// --- operators that neither read nor write ------------------------------------------------------

TEST(Traffic, CreationReadsShapesOnly) {
  for (const auto name :
       {"aten::zeros_like", "aten::full_like", "aten::new_ones", "aten::rand_like"})
    EXPECT_EQ(traffic(op(name).tensor("self", {2, 3}).out({2, 3})), (Bytes{0, 24, 24})) << name;
  for (const auto name : {"aten::zero_", "aten::fill_", "aten::normal_", "aten::bernoulli_"})
    EXPECT_EQ(traffic(op(name).tensor("self", {2, 3}).out({2, 3})), (Bytes{0, 24, 0})) << name;
  EXPECT_EQ(traffic(op("aten::bernoulli").tensor("self", {2, 3}).out({2, 3})), (Bytes{24, 24, 24}));
}

TEST(Traffic, UninitialisedMemoryIsNotWritten) {
  for (const auto name : {"aten::empty_like", "aten::new_empty_strided", "aten::empty_strided"})
    EXPECT_EQ(traffic(op(name).tensor("self", {2, 3}).out({2, 3})), (Bytes{0, 0, 24})) << name;
}

bool moves_nothing(const fake::Op& n) {
  return n.zero_by_rule("read_bytes") && n.zero_by_rule("written_bytes") &&
         n.zero_by_rule("output_bytes");
}

TEST(Traffic, ViewsAndBookkeepingMoveNothing) {
  for (const auto name : {"aten::view", "aten::permute", "aten::expand", "aten::sym_size",
                          "_operator::getitem", "prim::ListConstruct"})
    EXPECT_TRUE(moves_nothing(op(name).tensor("self", {2, 3}).out({2, 3}))) << name;
  EXPECT_FALSE(moves_nothing(op("aten::contiguous").tensor("self", {2, 3}).out({2, 3})));
}

/// The peak of live memory depends on whether an operator made a new tensor.
TEST(Traffic, OperatorsThatMoveNothingHaveZeroBytes) {
  const auto n = op("aten::view").tensor("self", {2, 3}).out({6});
  EXPECT_TRUE(moves_nothing(n));
  const auto t = memory::traffic_of(tmeter::Node(n.handle()), tmeter::OpClass::kView);
  EXPECT_TRUE(t.nothing);
  for (const auto& bytes : {t.read, t.written, t.output}) EXPECT_EQ(bytes, tmeter::Count(0));
}

TEST(Traffic, ConversionsThatChangeNothingMoveNothing) {
  const auto same = [](const char* name) { return op(name).tensor("self", {4}); };
  for (const auto name :
       {"aten::to", "aten::type_as", "aten::cpu", "aten::cuda", "aten::_autocast_to_full_precision",
        "aten::_autocast_to_reduced_precision"}) {
    EXPECT_TRUE(moves_nothing(same(name).out({4}))) << name;
    EXPECT_EQ(traffic(same(name).out({4}, TMETER_DTYPE_FLOAT16)), (Bytes{16, 8, 8})) << name;
  }
  EXPECT_EQ(traffic(same("aten::clone").out({4})), (Bytes{16, 16, 16}));
  EXPECT_EQ(traffic(same("aten::to").flag("copy").out({4})), (Bytes{16, 16, 16}));
  EXPECT_EQ(traffic(same("aten::to").number("memory_format", 1).out({4})), (Bytes{16, 16, 16}));
  // Unknown, as for lists of devices, which are not tensors.
  EXPECT_FALSE(moves_nothing(op("aten::to").number("self", 1).out({4})));
  EXPECT_FALSE(moves_nothing(op("aten::to").tensor("self", {4})));
}

// --- stored tensors -----------------------------------------------------------------------------

tmeter_value bound_to(const tmeter_tensor& stored, fake::Dims dims) {
  auto value = fake::tensor(std::move(dims));
  value.stored = &stored;
  return value;
}

/// Two names of one parameter are one memory.
TEST(Traffic, TiedParametersAreReadOnce) {
  const tmeter_tensor weight{40}, tied{40, &weight}, other{40};
  const auto both = [&](const tmeter_tensor& second) {
    auto n = op("acme::both").tensor("x", {3}).arg("a", bound_to(weight, {10}));
    return traffic(n.arg("b", bound_to(second, {10})).out({2}));
  };
  for (const auto* same : {&weight, &tied}) EXPECT_EQ(both(*same), (Bytes{12 + 40, 8, 8}));
  EXPECT_EQ(both(other), (Bytes{12 + 80, 8, 8}));
}

/// Weights of four bits have fewer bytes than their shape implies.
TEST(Traffic, WeightsAreReadAsStored) {
  const tmeter_tensor packed{5};
  EXPECT_EQ(traffic(op("aten::mul").arg("self", bound_to(packed, {10})).out({10})),
            (Bytes{5, 40, 40}));
}

TEST(Traffic, WeightsInsideAnObjectAreUnknown) {
  const auto linear = [](const char* name, tmeter_value object) {
    return traffic(op("quantized::linear").tensor("X", {4}).arg(name, std::move(object)).out({2}));
  };
  EXPECT_EQ(linear("W_prepack", {TMETER_VALUE_OTHER}), (Bytes{kUnknown, 8, 8}));
  EXPECT_EQ(linear("device", {TMETER_VALUE_OTHER}), (Bytes{16, 8, 8}));
  EXPECT_EQ(linear("W_prepack", fake::tensor({3})), (Bytes{16 + 12, 8, 8}));
}

TEST(Traffic, TensorsInListsOfListsCount) {
  auto value = fake::tensor({2});
  for (int depth = 0; depth < 4; ++depth) value = list({value, fake::tensor({1})});
  EXPECT_EQ(traffic(op("acme::nested").arg("x", value).out({1})), (Bytes{8 + 4 * 4, 4, 4}));
  // Deeper ones are unknown rather than left out.
  EXPECT_EQ(traffic(op("acme::nested").arg("x", list({value})).out({1})), (Bytes{kUnknown, 4, 4}));
}

// --- operators of a plugin, by their schema -----------------------------------------------------

constexpr std::pair<int32_t, size_t> kOwn{TMETER_MEMORY_OWN, 0};
constexpr std::pair<int32_t, size_t> kViewOfFirst{TMETER_MEMORY_VIEW, 0};
constexpr std::pair<int32_t, size_t> kFirst{TMETER_MEMORY_ARGUMENT, 0};

/// Like `traffic`; last the bytes of all results, by torchstat's convention.
std::array<std::optional<int64_t>, 4> by_schema(const fake::Op& n) {
  const auto [read, written, made] = traffic(n);
  return {read, written, made, n.count("output_bytes", "torchstat")};
}
using ByteCounts = std::array<std::optional<int64_t>, 4>;

fake::Op of_plugin(const char* name = "acme::step") {
  return op(name).tensor("state", {10}).tensor("x", {4});
}

/// `step(Tensor(a!) state, Tensor x) -> Tensor`
TEST(TrafficBySchema, ChangedArgumentsAreWrittenInAdditionToResults) {
  EXPECT_EQ(by_schema(of_plugin().out({3}).schema({true, false}, {kOwn})),
            (ByteCounts{40 + 16, 12 + 40, 12, 12 + 40}));
  EXPECT_EQ(by_schema(of_plugin().out({3}).schema({false, false}, {kOwn})),
            (ByteCounts{40 + 16, 12, 12, 12}));
  // `-> Tensor(a!)`: the argument, once.
  EXPECT_EQ(by_schema(of_plugin().out({10}).schema({true, false}, {kFirst})),
            (ByteCounts{40 + 16, 40, 0, 40}));
  EXPECT_EQ(by_schema(of_plugin().schema({true, true}, {})),
            (ByteCounts{40 + 16, 40 + 16, 0, 40 + 16}));
}

/// `f(Tensor(a) state, Tensor x) -> Tensor(a)`
TEST(TrafficBySchema, OperatorsThatOnlyGiveViewsMoveNothing) {
  const auto views =
      of_plugin().out({5}).out({5}).schema({false, false}, {kViewOfFirst, kViewOfFirst});
  EXPECT_TRUE(moves_nothing(views));
  // A view beside a tensor of its own, or beside a changed argument, costs what these cost.
  const auto beside = of_plugin().out({5}).out({3}).schema({false, false}, {kViewOfFirst, kOwn});
  EXPECT_EQ(by_schema(beside), (ByteCounts{40 + 16, 12, 12, 12}));
  const auto changed = of_plugin().out({5}).schema({false, true}, {kViewOfFirst});
  EXPECT_EQ(by_schema(changed), (ByteCounts{40 + 16, 16, 0, 16}));
  // An operator without results gives no views.
  EXPECT_EQ(by_schema(of_plugin().schema({false, false}, {})), (ByteCounts{40 + 16, 0, 0, 0}));
}

TEST(TrafficBySchema, ATensorThatIsChangedTwiceIsWrittenOnce) {
  const tmeter_tensor state{40}, tied{40, &state};
  auto n = op("acme::step").arg("a", bound_to(state, {10})).arg("b", bound_to(tied, {10}));
  EXPECT_EQ(by_schema(n.schema({true, true}, {})), (ByteCounts{40, 40, 0, 40}));
}

TEST(TrafficBySchema, TensorsWithoutASizeAreUnknown) {
  auto target = op("acme::step").arg("state", unsized({10})).tensor("x", {4}).out({3});
  EXPECT_EQ(by_schema(target.schema({true, false}, {kOwn})),
            (ByteCounts{kUnknown, kUnknown, 12, kUnknown}));
  auto result = of_plugin().out({3}, TMETER_DTYPE_UNDEFINED).schema({true, false}, {kOwn});
  EXPECT_EQ(by_schema(result), (ByteCounts{40 + 16, kUnknown, kUnknown, kUnknown}));
}

/// The name decides: with the mark `_` it changes its first tensor, else it makes its results.
TEST(TrafficBySchema, AnIncompleteSchemaIsIgnored) {
  const ByteCounts by_name{40 + 16, 12, 12, 12}, in_place{40 + 16, 40, 0, 40};
  EXPECT_EQ(by_schema(of_plugin().out({3}).schema({true}, {kOwn})), by_name);
  EXPECT_EQ(by_schema(of_plugin().out({3}).schema({true, true}, {})), by_name);
  EXPECT_EQ(by_schema(of_plugin("acme::step_").out({10}).schema({}, {})), in_place);
  EXPECT_EQ(by_schema(of_plugin("acme::step_").out({3}).schema({false, false}, {kOwn})), by_name);
}

TEST(TrafficBySchema, PyTorchsOperatorsAreClassifiedByName) {
  EXPECT_EQ(by_schema(of_plugin("aten::add").out({10}).schema({true, true}, {kFirst})),
            (ByteCounts{40 + 16, 40, 40, 40}));
}

TEST(TrafficBySchema, UninitialisedMemoryIsNotWritten) {
  for (const auto name : {"acme::empty_cache", "acme::new_empty_cache"})
    EXPECT_EQ(by_schema(of_plugin(name).out({3}).schema({false, false}, {kOwn})),
              (ByteCounts{40 + 16, 0, 12, 12}))
        << name;
}

// --- conventions and runs ------------------------------------------------------------------------

TEST(Traffic, TorchstatCountsTensorsChangedInPlace) {
  const auto made = [](const fake::Op& n) { return n.count("output_bytes", "torchstat"); };
  EXPECT_EQ(made(op("aten::relu_").tensor("self", {2, 3}).out({2, 3})), 24);
  EXPECT_EQ(made(op("aten::relu").tensor("self", {2, 3}).out({2, 3})), 24);
  EXPECT_EQ(made(op("aten::view").tensor("self", {2, 3}).out({6})), 0);
  EXPECT_EQ(made(op("aten::empty_like").tensor("self", {2, 3}).out({2, 3})), 24);
  auto scatter = op("aten::scatter_").tensor("self", {10}).arg("index", indices({6}));
  EXPECT_EQ(made(scatter.tensor("src", {6}).out({10})), 40);
}

/// Sizes change between runs. Within a run each node and its neighbours are computed once.
TEST(Traffic, IsComputedOnceForARun) {
  const auto sized = [](size_t index, int64_t n) {
    return op("aten::relu").tensor("self", {n}).out({n}).index(index);
  };
  std::vector<fake::Op> nodes;
  for (size_t i = 0; i < 200; ++i) nodes.push_back(sized(i, static_cast<int64_t>(i)));
  (void)nodes[0].count("read_bytes");  // starts the host
  const auto read = [&](size_t i) {
    return *memory::traffic_of(tmeter::Node(nodes[i].handle()), tmeter::OpClass::kActivation).read;
  };
  memory::forget_traffic();
  for (size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(read(i), tmeter::Count(4 * i)) << i;
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = sized(i, 1000);
  for (size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(read(i), tmeter::Count(4 * i)) << i;
  memory::forget_traffic();
  for (size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(read(i), tmeter::Count(4000)) << i;
}

/// Graphs have more nodes than the cache.
TEST(Traffic, NodesFarApartAreNotMixedUp) {
  const std::array<size_t, 5> places{1, 4097, 1 << 20, (1 << 20) + 1, 4095};
  std::vector<fake::Op> nodes;
  for (const auto i : places) {
    const auto n = static_cast<int64_t>(nodes.size() + 1);
    nodes.push_back(op("aten::relu").tensor("self", {n}).out({n}).index(i));
  }
  (void)nodes[0].count("read_bytes");
  for (int round = 0; round < 2; ++round) {
    for (size_t k = 0; k < nodes.size(); ++k) {
      const auto& t =
          memory::traffic_of(tmeter::Node(nodes[k].handle()), tmeter::OpClass::kActivation);
      EXPECT_EQ(t.read, tmeter::Count(4 * (k + 1))) << places[k];
    }
  }
}

}  // namespace
