// What is numbered in each piece of nodes alone: the numbers are those of the names, and what has
// one number is the same, wherever the list is cut and whoever reads the pieces.
#include "node_numbers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>

#include "document.hpp"

namespace pt2 {
namespace {

/// Numbers names as Scope does.
class Names {
 public:
  void add(std::string name) {
    kept_.push_back(std::move(name));
    map_.insert(kept_.back(), 0);
  }
  uint32_t find_next(std::string_view name, uint32_t& last) const {
    return map_.find_next(name, last);
  }
  bool is_named(uint32_t number, std::string_view name) const {
    return number < kept_.size() && kept_[number] == name;
  }
  size_t size() const { return kept_.size(); }
  const std::string& operator[](size_t i) const { return kept_[i]; }

 private:
  std::deque<std::string> kept_;
  NameMap<int> map_;
};

/// Nodes that use inputs, earlier results and names that are not there, and make a name each.
class Nodes {
 public:
  Nodes(uint32_t seed, int inputs, int nodes) : random_(seed) {
    for (int i = 0; i < inputs; ++i) names.add("p_" + std::to_string(i));
    for (int i = 0; i < nodes; ++i) names.add("made_" + std::to_string(i));
    for (int i = 0; i < nodes; ++i) text += (i ? ", " : "") + node(inputs, i);
  }
  Names names;
  std::string text;

 private:
  int up_to(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string name(int inputs, int node) {
    switch (up_to(4)) {
      case 0:
        return "p_" + std::to_string(up_to(inputs));
      case 1:
        return "made_" + std::to_string(up_to(node + 1));
      case 2:
        return "unknown_" + std::to_string(up_to(3));
      default:
        return node > 0 ? "made_" + std::to_string(node - 1) : "p_0";
    }
  }
  std::string tensor(const std::string& name) { return R"({"name": ")" + name + R"("})"; }
  std::string argument(int inputs, int node) {
    switch (up_to(7)) {
      case 0:
        return R"({"as_int": )" + std::to_string(up_to(5)) + "}";
      case 1:
        return R"({"as_ints": [)" + std::to_string(up_to(2)) + ", " + std::to_string(up_to(2)) +
               "]}";
      case 2:
        return std::array<std::string, 4>{R"({"as_float": 0.0})", R"({"as_float": -0.0})",
                                          R"({"as_float": NaN})",
                                          R"({"as_bool": false})"}[up_to(4)];
      case 3:
        return R"({"as_tensors": [)" + tensor(name(inputs, node)) + ", " +
               tensor(name(inputs, node)) + "]}";
      case 4:
        return R"({"as_string": "x"})";
      default:
        return R"({"as_tensor": )" + tensor(name(inputs, node)) + "}";
    }
  }
  std::string node(int inputs, int i) {
    std::string arguments;
    for (int n = up_to(4); n > 0; --n)
      arguments += (arguments.empty() ? "" : ", ") + (R"({"name": "a)" + std::to_string(n)) +
                   R"(", "arg": )" + argument(inputs, i) + "}";
    // Every tenth has an argument of a kind that is read as a document.
    if (up_to(10) == 0) arguments = R"({"name": "a", "arg": {"as_graph": {"name": "g"}}})";
    return R"({"target": "torch.ops.aten.op)" + std::to_string(up_to(3)) +
           R"(.default", "inputs": [)" + arguments + R"(], "outputs": [{"as_tensor": )" +
           tensor("made_" + std::to_string(i)) + R"(}], "metadata": {"stack_trace": "line )" +
           std::to_string(up_to(4)) + "\"}}";
  }

  std::mt19937 random_;
};

struct Numbered {
  PlainNodes nodes;
  NodeNumbers numbers;
};

uint32_t number_of(const Names& names, std::string_view name) {
  for (uint32_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return i + 1;
  return 0;
}

/// What a constant is, told apart from all others.
std::string shown(const PlainNodes& plain, const PlainValue& v) {
  std::string text(1, static_cast<char>('A' + static_cast<int>(v.kind)));
  text += std::to_string(v.number) + "," + std::to_string(v.real);
  if (v.kind == PlainValue::Kind::kIntegers)
    for (size_t i = 0; i < v.count; ++i) text += "," + std::to_string(plain.numbers[v.first + i]);
  return text;
}

void expect_value(const Numbered& piece, size_t i, const Names& names) {
  using Kind = PlainValue::Kind;
  const auto& plain = piece.nodes;
  const auto& value = plain.values[i];
  const auto& numbers = piece.numbers.values[i];
  ASSERT_EQ(piece.numbers.names[numbers.name], value.name);
  if (value.kind == Kind::kTensor) {
    ASSERT_EQ(numbers.at, number_of(names, value.text)) << value.text;
  } else if (value.kind == Kind::kTensors) {
    for (size_t n = value.first; n < value.first + value.count; ++n)
      ASSERT_EQ(piece.numbers.tensors[n], number_of(names, plain.names[n]));
  } else if (value.kind != Kind::kText) {
    const auto& same = plain.values[piece.numbers.constants[numbers.at]];
    ASSERT_EQ(shown(plain, same), shown(plain, value));
  }
}

void expect_numbers(const Numbered& piece, const Names& names) {
  const auto& numbers = piece.numbers;
  for (size_t i = 0; i < piece.nodes.nodes.size(); ++i) {
    const auto& node = piece.nodes.nodes[i];
    if (node.is_unusual) continue;
    ASSERT_EQ(numbers.targets[numbers.nodes[i].target], node.target);
    ASSERT_EQ(numbers.traces[numbers.nodes[i].trace], node.trace);
    for (size_t n = 0; n < node.arguments; ++n) expect_value(piece, node.first_argument + n, names);
    for (size_t n = 0; n < node.results; ++n) expect_value(piece, node.first_result + n, names);
  }
  ASSERT_LE(numbers.targets.size(), piece.nodes.nodes.size());
  ASSERT_LE(numbers.traces.size(), piece.nodes.nodes.size());
}

TEST(Pt2NodeNumbers, AreThoseOfTheNamesWhereverTheListIsCut) {
  size_t pieces = 0, values = 0;
  for (const unsigned helpers : {0U, 1U, 3U}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const Nodes made(seed, 12, 60);
      auto text = "{\"list\": [" + made.text + "]}";
      text.reserve(text.size() + 64);
      Cuts cuts;
      cuts.paths = {"list"};
      cuts.text = cuts.list = 1;
      cuts.measure.piece = 300 + 500 * (seed % 4);
      const Document document(text, cuts);
      const auto series = document.series("list", member(document.root(), "list"));
      // About how many of the names are inputs may be wrong.
      const size_t inputs = seed % 3 * 12;
      series.each<Numbered>(
          [&](Numbered& piece, std::string_view part) {
            if (!piece.nodes.read(part)) return false;
            piece.numbers.read(piece.nodes, made.names, inputs);
            return true;
          },
          [&](const Numbered& piece) {
            ++pieces;
            values += piece.nodes.values.size();
            expect_numbers(piece, made.names);
          },
          [](json::element) { FAIL() << "all of it is plain"; },
          Helping{.least = 0, .helpers = helpers});
    }
  }
  EXPECT_GT(pieces, 500u);
  EXPECT_GT(values, 5000u);
}

TEST(Pt2NodeNumbers, TellZerosApartThatAreNot) {
  const std::string text =
      R"({"target": "t", "inputs": [{"name": "a", "arg": {"as_float": 0.0}}, )"
      R"({"name": "b", "arg": {"as_float": -0.0}}, {"name": "c", "arg": {"as_float": 0.0}}, )"
      R"({"name": "d", "arg": {"as_int": 0}}], "outputs": []})" +
      std::string(64, ' ');
  Numbered piece;
  ASSERT_TRUE(piece.nodes.read(std::string_view(text).substr(0, text.size() - 64)));
  piece.numbers.read(piece.nodes, Names(), 0);
  const auto& values = piece.numbers.values;
  EXPECT_EQ(values[0].at, values[2].at);
  EXPECT_NE(values[0].at, values[1].at);
  EXPECT_NE(values[0].at, values[3].at);
}

}  // namespace
}  // namespace pt2
