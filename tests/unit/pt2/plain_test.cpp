// What is read as it stands, held against simdjson: nothing is taken that it refuses, and what is
// taken says the same.
#include <gtest/gtest.h>
#include <tmeter/abi/graph.h>

#include <cmath>
#include <random>

#include "../common/json_text.hpp"
#include "node_view.hpp"
#include "plain_nodes.hpp"
#include "plain_specs.hpp"
#include "plain_tensors.hpp"

namespace pt2 {
namespace {

/// With room behind it that may be read.
std::string with_room(std::string text) {
  text.reserve(text.size() + 64);
  return text;
}

/// Parsed as a document, keys that are there twice refused.
struct Parsed {
  explicit Parsed(const std::string& text) {
    std::string copy = text;
    copy.reserve(copy.size() + 64);
    root = loading::require_json(loading::parse_json(copy, parser, root), root);
  }
  json::parser parser;
  json::element root;
};

bool is_json(const std::string& text) {
  try {
    Parsed parsed(text);
    return true;
  } catch (const BadFile&) {
    return false;
  }
}

bool is_skipped(const std::string& text) {
  const auto copy = with_room(text);
  PlainText plain(copy);
  return plain.skip() && plain.is_done();
}

TEST(PlainText, TakesWhatIsPlain) {
  for (const std::string text :
       {"1", "-7", "0", "0.5", "-0.5e-3", "1E+9", "true", "false", "null", R"("")", R"("a b")",
        R"("\n\"\\\/\t\b\f\r")", "[]", "{}", "[1, [2, {}], \"x\"]", R"({"a": 1, "b" : {"a": [ ]}})",
        "123456789012345678"})
    EXPECT_TRUE(is_skipped(text) && is_json(text)) << text;
}

TEST(PlainText, RefusesWhatIsNoJson) {
  for (const std::string text : {"",
                                 "01",
                                 "-",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "+1",
                                 "0x1",
                                 "tru",
                                 "True",
                                 "nul",
                                 "Infinity",
                                 "-Infinity",
                                 "NaN",
                                 "[",
                                 "[1",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "{",
                                 R"({"a")",
                                 R"({"a":})",
                                 R"({"a" 1})",
                                 R"({a: 1})",
                                 R"({"a": 1,})",
                                 R"({"a": 1, "a": 2})",
                                 "\"",
                                 "\"a",
                                 R"("\x")",
                                 R"("\")",
                                 "\"\x01\"",
                                 "\"\n\"",
                                 "1 2",
                                 "]"}) {
    EXPECT_FALSE(is_skipped(text)) << text;
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(PlainText, LeavesTheUnusualToOthers) {
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += "[";
  for (int i = 0; i < 70; ++i) deep += "]";
  const std::array<std::string, 5> texts{"\"\xc3\xa4\"", R"("\u00e4")", deep,
                                         "12345678901234567890", "-0"};
  for (const auto& text : texts) {
    EXPECT_TRUE(is_json(text)) << text;
    EXPECT_FALSE(is_skipped(text)) << text;
  }
}

TEST(PlainText, FindsTheEndOfATextWhereverItIs) {
  for (size_t length = 0; length < 70; ++length) {
    for (const std::string end : {"", "\\n", "\\\\", "\\\""}) {
      const auto inner = std::string(length, 'x') + end;
      const auto text = with_room("\"" + inner + "\" ,");
      PlainText plain(text);
      std::string_view found;
      ASSERT_TRUE(plain.escaped(found));
      EXPECT_EQ(found, inner);
      EXPECT_TRUE(plain.take(','));
      EXPECT_TRUE(plain.is_done());
      std::string whole;
      unescape(found, whole);
      EXPECT_EQ(whole, as_text(Parsed("[" + text.substr(0, text.size() - 1) + "]").root.at(0)));
    }
  }
}

TEST(PlainText, NumbersAreThoseOfSimdjson) {
  for (const std::string text : {"0.1", "1e-05", "-3.4028235e38", "2.2250738585072014e-308",
                                 "0.30000000000000004", "123456.789e3", "-0.0", "7", "-12"}) {
    const auto copy = with_room(text);
    PlainText plain(copy);
    double real = 0;
    ASSERT_TRUE(plain.real(real)) << text;
    const double expected = as<double>(Parsed("[" + text + "]").root.at(0), "a number");
    EXPECT_EQ(real, expected) << text;
    EXPECT_EQ(std::signbit(real), std::signbit(expected)) << text;
  }
}

constexpr std::string_view kNode =
    R"({"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": )"
    R"({"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "other", "arg": {"as_int": -3}, "kind": 1}, )"
    R"({"name": "", "arg": {"as_ints": [1, 2]}}, {"name": "eps", "arg": {"as_float": 1e-05}, "kind": 1}, )"
    R"({"name": "many", "arg": {"as_tensors": [{"name": "a"}, {"name": "b"}]}, "kind": 1}, )"
    R"({"name": "device", "arg": {"as_device": {"type": "cpu", "index": null}}}, )"
    R"({"name": "flag", "arg": {"as_bool": true}}, {"name": "none", "arg": {"as_none": true}}], )"
    R"("outputs": [{"as_tensor": {"name": "add"}}], "metadata": {"stack_trace": "File \"n.py\", line 9, in f\n    y", )"
    R"("nn_module_stack": "L__self__,,a.Net", "torch_fn": "add"}, "is_hop_single_tensor_return": null, "name": "add"})";

std::string list_of_nodes() { return std::string(kNode) + ", " + std::string(kNode) + " "; }

void expect_same(const PlainNodes& plain, const PlainValue& value, json::element argument) {
  const auto tagged = as_tagged(argument);
  using Kind = PlainValue::Kind;
  switch (value.kind) {
    case Kind::kTensor:
      EXPECT_EQ(tagged.kind, "as_tensor");
      EXPECT_EQ(value.text, text_member(as_object(tagged.value), "name"));
      break;
    case Kind::kTensors: {
      size_t i = value.first;
      for (const json::element e : as_array(tagged.value))
        EXPECT_EQ(plain.names.at(i++), text_member(as_object(e), "name"));
      EXPECT_EQ(i, value.first + value.count);
      break;
    }
    case Kind::kInteger:
      EXPECT_EQ(tagged.kind, "as_int");
      EXPECT_EQ(value.number, as_integer(tagged.value));
      break;
    case Kind::kIntegers: {
      size_t i = value.first;
      for (const json::element e : as_array(tagged.value))
        EXPECT_EQ(plain.numbers.at(i++), as_integer(e));
      EXPECT_EQ(i, value.first + value.count);
      break;
    }
    case Kind::kReal:
      EXPECT_EQ(value.real, as<double>(tagged.value, "a number"));
      break;
    case Kind::kBoolean:
      EXPECT_EQ(value.number != 0, as_bool(tagged.value));
      break;
    case Kind::kScalarType:
      EXPECT_EQ(value.number, as_integer(tagged.value));
      break;
    case Kind::kNone:
      EXPECT_EQ(tagged.kind, "as_none");
      break;
    case Kind::kText:
      EXPECT_EQ(simdjson::minify(Parsed("[" + std::string(value.text) + "]").root.at(0)),
                simdjson::minify(argument));
  }
}

/// Of what was taken, the same as in the document.
void expect_same_nodes(const PlainNodes& plain, const std::string& text) {
  SCOPED_TRACE(text);
  std::optional<Parsed> parsed;
  ASSERT_NO_THROW(parsed.emplace("[" + text + "]"));
  const auto list = as_array(parsed->root);
  ASSERT_EQ(plain.nodes.size(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& node = plain.nodes[i];
    ASSERT_TRUE(is_json("[" + std::string(node.text) + "]"));
    if (node.is_unusual) continue;
    const Parsed one("[" + std::string(node.text) + "]");
    const auto expected = view_nodes(as_array(one.root), 0).at(0);
    EXPECT_EQ(node.target, expected.target);
    EXPECT_EQ(node.stack, expected.stack);
    std::string trace;
    unescape(node.trace, trace);
    EXPECT_EQ(trace, expected.trace);
    ASSERT_EQ(node.arguments, expected.inputs.size());
    ASSERT_EQ(node.results, expected.outputs.size());
    for (size_t a = 0; a < node.arguments; ++a) {
      const auto& value = plain.values[node.first_argument + a];
      const auto input = as_object(expected.inputs.at(a));
      const auto name = find(input, "name");
      EXPECT_EQ(value.name, name ? as_text(*name) : "");
      expect_same(plain, value, member(input, "arg"));
    }
    for (size_t r = 0; r < node.results; ++r)
      expect_same(plain, plain.values[node.first_result + r], expected.outputs.at(r));
  }
}

TEST(PlainNodes, SayWhatTheDocumentSays) {
  const auto text = with_room(list_of_nodes());
  PlainNodes plain;
  ASSERT_TRUE(plain.read(text));
  ASSERT_EQ(plain.nodes.size(), 2u);
  EXPECT_FALSE(plain.nodes[0].is_unusual);
  EXPECT_FALSE(plain.nodes[1].is_unusual);
  EXPECT_EQ(plain.nodes[1].arguments, 8u);
  expect_same_nodes(plain, text);
}

TEST(PlainNodes, LeaveWhatHasGraphsOrIsNotKnownToTheDocument) {
  const std::string plain_text(kNode);
  const auto with = [&](std::string_view from, std::string_view to) {
    auto text = plain_text;
    text.replace(text.find(from), from.size(), to);
    return with_room(text);
  };
  for (const auto& text : {with("torch.ops.aten.add.Tensor", "torch.ops.higher_order.cond"),
                           with("as_none", "as_graph"), with("\"is_hop", "\"zz\": 1, \"is_hop"),
                           with("\"outputs\": [{\"as_tensor\": {\"name\": \"add\"}}]",
                                "\"outputs\": [{\"as_int\": 3}]"),
                           with("\"metadata\": {", "\"metadata\": null, \"other\": {")}) {
    PlainNodes plain;
    ASSERT_TRUE(plain.read(text)) << text;
    EXPECT_TRUE(plain.nodes.at(0).is_unusual) << text;
    EXPECT_TRUE(plain.values.empty());
    expect_same_nodes(plain, text);
  }
}

constexpr std::string_view kChanges = "\"\\{}[]:, \n019-.eEtfnuNI_x\x01\x80";

std::string damaged(std::string text, std::mt19937& random) {
  for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 12);
        break;
      case 1:
        text.insert(at, 1, kChanges[random() % kChanges.size()]);
        break;
      case 2:
        text[at] = kChanges[random() % kChanges.size()];
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
    }
    if (text.empty()) text = " ";
  }
  return text;
}

TEST(PlainNodes, TakeNothingThatIsRefusedAsADocument) {
  std::mt19937 random(7);
  const auto whole = list_of_nodes();
  size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto text = with_room(damaged(whole, random));
    PlainNodes plain;
    if (!plain.read(text)) continue;
    ++taken;
    expect_same_nodes(plain, text);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(taken, 100u);
}

constexpr std::string_view kMeta =
    R"({"dtype": 7, "sizes": [{"as_int": 4}, {"as_int": 3}], "requires_grad": true, )"
    R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
    R"("storage_offset": {"as_int": 5}, "layout": 7})";

std::string table_of_metas() {
  return R"("x": )" + std::string(kMeta) + R"(, "y": )" + std::string(kMeta);
}

std::string table_of_payloads() {
  const auto one =
      R"({"path_name": "w_0", "is_param": true, "use_pickle": false, "tensor_meta": )" +
      std::string(kMeta) + "}";
  return R"("x": )" + one + R"(, "y": )" + one;
}

void expect_same_meta(const PlainTensors& plain, const PlainMeta& meta, json::object expected) {
  EXPECT_EQ(meta.dtype, read_member(expected, "dtype", as_integer));
  EXPECT_EQ(meta.requires_grad, read_member(expected, "requires_grad", as_bool));
  EXPECT_EQ(meta.storage_offset,
            read_member(object_member(expected, "storage_offset"), "as_int", as_integer));
  size_t at = meta.first;
  for (const char* key : {"sizes", "strides"}) {
    const auto list = array_member(expected, std::string_view(key));
    ASSERT_EQ(list.size(), meta.rank);
    for (const json::element e : list)
      EXPECT_EQ(plain.numbers.at(at++), read_member(as_object(e), "as_int", as_integer));
  }
}

void expect_same_tensors(const PlainTensors& plain, const std::string& text, bool payloads) {
  SCOPED_TRACE(text);
  std::optional<Parsed> parsed;
  ASSERT_NO_THROW(parsed.emplace("{" + text + "}"));
  const auto table = as_object(parsed->root);
  ASSERT_EQ(plain.tensors.size(), table.size());
  size_t i = 0;
  for (const auto field : table) {
    const auto& tensor = plain.tensors[i++];
    EXPECT_EQ(tensor.name, field.key);
    const auto value = as_object(field.value);
    if (payloads) {
      EXPECT_EQ(tensor.record, text_member(value, "path_name"));
      const auto pickled = find(value, "use_pickle");
      EXPECT_EQ(tensor.is_pickled, pickled && as_bool(*pickled));
    }
    expect_same_meta(plain, tensor.meta, payloads ? object_member(value, "tensor_meta") : value);
  }
}

TEST(PlainTensors, SayWhatTheDocumentSays) {
  PlainTensors plain;
  const auto metas = with_room(table_of_metas()), payloads = with_room(table_of_payloads());
  ASSERT_TRUE(plain.read_metas(metas));
  EXPECT_EQ(plain.tensors.size(), 2u);
  expect_same_tensors(plain, metas, false);
  ASSERT_TRUE(plain.read_payloads(payloads));
  expect_same_tensors(plain, payloads, true);
}

TEST(PlainTensors, TakeNothingThatIsRefusedAsADocument) {
  std::mt19937 random(11);
  size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool payloads = round % 2 != 0;
    const auto text = with_room(damaged(payloads ? table_of_payloads() : table_of_metas(), random));
    PlainTensors plain;
    if (!(payloads ? plain.read_payloads(text) : plain.read_metas(text))) continue;
    ++taken;
    expect_same_tensors(plain, text, payloads);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(taken, 100u);
}

constexpr std::string_view kSpecs =
    R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "a.w"}}, )"
    R"({"buffer": {"arg": {"name": "b_x"}, "buffer_name": "a.x", "persistent": false}}, )"
    R"({"tensor_constant": {"arg": {"name": "c_y"}, "tensor_constant_name": "y"}})";

TEST(PlainSpecs, SayWhatIsThere) {
  const auto text = with_room(std::string(kSpecs));
  PlainSpecs plain;
  ASSERT_TRUE(plain.read(text));
  ASSERT_EQ(plain.specs.size(), 3u);
  EXPECT_EQ(plain.specs[0].kind, TMETER_TENSOR_PARAMETER);
  EXPECT_EQ(plain.specs[0].argument, "p_w");
  EXPECT_EQ(plain.specs[0].name, "a.w");
  EXPECT_TRUE(plain.specs[0].persistent);
  EXPECT_EQ(plain.specs[1].kind, TMETER_TENSOR_BUFFER);
  EXPECT_EQ(plain.specs[1].name, "a.x");
  EXPECT_FALSE(plain.specs[1].persistent);
  EXPECT_EQ(plain.specs[2].kind, TMETER_TENSOR_CONSTANT);
  EXPECT_EQ(plain.specs[2].argument, "c_y");
}

TEST(PlainSpecs, LeaveOtherKindsAndWhatLacksSomething) {
  for (const std::string text :
       {R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})",
        R"({"parameter": {"arg": {"name": "p_w"}}})", R"({"parameter": {"parameter_name": "w"}})",
        R"({"buffer": {"arg": {"name": "b"}, "buffer_name": "b"}})",
        R"({"parameter": {"arg": {"name": "p"}, "parameter_name": "w", "parameter_name": "w"}})",
        R"({"parameter": {"arg": {"name": "p"}, "parameter_name": "w", "later": 1}})",
        R"({"parameter": {"arg": {"name": "p", "x": 1}, "parameter_name": "w"}})",
        R"({"parameter": {"arg": {"name": "p"}, "parameter_name": "w"}, "buffer": 1})", R"({})",
        R"("parameter")", ""}) {
    PlainSpecs plain;
    EXPECT_FALSE(plain.read(with_room(text))) << text;
  }
}

TEST(PlainSpecs, TakeNothingThatIsRefusedAsADocument) {
  std::mt19937 random(13);
  const auto key_of = [](int32_t kind) {
    return kind == TMETER_TENSOR_PARAMETER ? "parameter"
           : kind == TMETER_TENSOR_BUFFER  ? "buffer"
                                           : "tensor_constant";
  };
  size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto text = with_room(damaged(std::string(kSpecs), random));
    PlainSpecs plain;
    if (!plain.read(text)) continue;
    ++taken;
    SCOPED_TRACE(text);
    const Parsed parsed("[" + text + "]");
    const auto list = as_array(parsed.root);
    ASSERT_EQ(plain.specs.size(), list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const auto& spec = plain.specs[i];
      const auto tagged = as_tagged(list.at(i));
      ASSERT_EQ(tagged.kind, key_of(spec.kind));
      const auto object = as_object(tagged.value);
      EXPECT_EQ(spec.argument, text_member(object_member(object, "arg"), "name"));
      EXPECT_EQ(spec.name, text_member(object, std::string(key_of(spec.kind)) + "_name"));
      if (spec.kind == TMETER_TENSOR_BUFFER) {
        EXPECT_EQ(spec.persistent, read_member(object, "persistent", as_bool));
      }
    }
  }
  EXPECT_GT(taken, 100u);
}

TEST(PlainCalls, TakeNothingThatIsRefusedAsADocument) {
  std::mt19937 random(19);
  const std::string whole = R"({"fqn": "", "signature": {"in_spec": "[1, {\"a\": 2}]"}}, )"
                            R"({"fqn": "a.b", "signature": null}, {"fqn": "a.c@1", "later": [1]})";
  PlainCalls plain;
  const auto undamaged = with_room(whole);
  ASSERT_TRUE(plain.read(undamaged));
  EXPECT_EQ(plain.modules, (std::vector<std::string_view>{"", "a.b", "a.c@1"}));
  size_t taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto text = with_room(damaged(whole, random));
    if (!plain.read(text)) continue;
    ++taken;
    SCOPED_TRACE(text);
    const Parsed parsed("[" + text + "]");
    const auto list = as_array(parsed.root);
    ASSERT_EQ(plain.modules.size(), list.size());
    for (size_t i = 0; i < list.size(); ++i)
      EXPECT_EQ(plain.modules[i], text_member(as_object(list.at(i)), "fqn"));
  }
  EXPECT_GT(taken, 100u);
}

TEST(PlainTensors, LeaveSymbolsNegativeSizesAndNamesThatAreThereTwice) {
  for (const auto& [from, to] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {R"({"as_int": 4})", R"({"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}})"},
           {R"({"as_int": 4})", R"({"as_int": -4})"},
           {R"("y")", R"("x")"},
           {R"(, {"as_int": 3}], "req)", R"(], "req)"},
           {"7", "70000"}}) {
    auto text = table_of_metas();
    text.replace(text.find(from), from.size(), to);
    PlainTensors plain;
    EXPECT_FALSE(plain.read_metas(with_room(text))) << text;
  }
}

}  // namespace
}  // namespace pt2
