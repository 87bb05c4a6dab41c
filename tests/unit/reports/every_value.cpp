#include "tests/unit/reports/every_value.hpp"

#include <cmath>
#include <limits>

namespace fake {

std::string hostile_name() {
  return "=cmd|'x'!\"A1\"</details></report><script>alert(1)</script>]]>--> \\N`|@root #1 *b* "
         "[l](http://x)\x01\x1b[31m\n\r\tnew\xff\xc3line\u202Eevil% ::error::";
}

EveryValue::EveryValue() {
  make_graph();
  make_values();
  make_words();
  make_sizes();
}

void EveryValue::make_graph() {
  auto* root = module(nullptr, "", "acme.Net");
  auto* conv = module(root, "conv", "torch.nn.Conv2d", 2);
  auto* bad = module(root, hostile_name(), "acme.Layer<int>");
  module(root, "unused", "torch.nn.Identity", 0);
  conv->facts = {{"text", "Conv2d(3, 4, kernel_size=(3, 3))"},
                 {"kernel_size", "[3, 3]"},
                 {"input_size", "[8, 3, 2, 2]"},
                 {"output_size", "[8, 4, 2, 2]"}};
  tmeter_value flag;
  flag.kind = TMETER_VALUE_BOOL;
  conv->attributes = {{"stride", int_value(2)}, {"bias", flag}};

  auto x = tensor_value({8, 3, 2, 2});
  x.dim_texts = {"batch", "", "", ""};
  inputs.push_back({"x", "inferred", x});
  auto* weight = tensor(conv, "weight", {4, 3, 3, 3});
  auto* tied = tensor(bad, "weight", {4, 3, 3, 3});
  tied->canonical = weight;
  auto* mean = tensor(bad, "mean", {4});
  mean->kind = TMETER_TENSOR_BUFFER;
  mean->trainable = false;

  auto* first = node(conv, "aten::conv2d");
  first->name = "conv2d";
  first->location = "net.py:3";
  tmeter_value from_weight = tensor_value({4, 3, 3, 3});
  from_weight.tensor = weight;
  tmeter_value text, real, list, other, none;
  text.kind = TMETER_VALUE_TEXT;
  text.text = hostile_name();
  real.kind = TMETER_VALUE_FLOAT;
  real.f = -std::numeric_limits<double>::infinity();
  list.kind = TMETER_VALUE_LIST;
  list.items = {int_value(1), none};
  other.kind = TMETER_VALUE_DTYPE;
  other.i = TMETER_DTYPE_FLOAT32;
  first->args = {{"input", x},     {"weight", from_weight}, {"mode", text}, {"eps", real},
                 {"stride", list}, {"dtype", other},        {"", none}};
  first->results = {tensor_value({8, 4, 2, 2})};
  auto* second = node(bad, "acme::fused");
  second->overload = "Tensor";
  auto from_first = tensor_value({8, 4, 2, 2});
  from_first.producer = first;
  second->args = {{"self", from_first}};
  second->results = {tensor_value({8, 4}), tensor_value({8})};
  second->name = "getitem";
  auto* third = node(root, "aten::flatten");
  third->results = {tensor_value({8, 16})};
  auto out = tensor_value({8, 16});
  out.producer = third;
  outputs.push_back(out);
}

void EveryValue::make_values() {
  constexpr int64_t kBeyondDouble = 9007199254740993;  // 2^53 + 1
  const auto macs = metric({.id = "macs", .title = "MACs", .convention = "one MAC; bias | not"});
  const auto bytes =
      metric({.id = "bytes", .title = "memory", .unit = "B", .unit_kind = TMETER_UNIT_BYTE});
  const auto energy = metric({.id = "energy",
                              .title = "energy",
                              .unit = "J",
                              .unit_kind = TMETER_UNIT_JOULE,
                              .provenance = TMETER_PROVENANCE_ESTIMATED,
                              .provenance_text = "by horowitz-45nm"});
  const auto params = metric({.id = "params", .title = "params", .axis = TMETER_AXIS_TENSOR});
  const auto detail = metric({.id = "detail",
                              .title = "detail",
                              .flags = TMETER_METRIC_DETAIL,
                              .aggregation = TMETER_AGGREGATE_MAX});
  set(macs, TMETER_AXIS_NODE, 0, integer(kBeyondDouble));
  set(macs, TMETER_AXIS_NODE, 1, unknown());
  set(macs, TMETER_AXIS_NODE, 2, zero_by_rule());
  for (const auto axis : {TMETER_AXIS_MODEL, TMETER_AXIS_MODULE})
    set(macs, axis, 0, at_least(kBeyondDouble));
  set(macs, TMETER_AXIS_MODULE, 1, integer(kBeyondDouble));
  set(macs, TMETER_AXIS_MODULE, 2, unknown());
  set(macs, TMETER_AXIS_MODULE, 3, zero_by_rule());
  set(bytes, TMETER_AXIS_NODE, 0, integer(1536));
  set(bytes, TMETER_AXIS_MODULE, 1, integer(1536));
  set(bytes, TMETER_AXIS_MODEL, 0, integer(1536));
  set(bytes, TMETER_AXIS_NODE, 2, integer(0));
  set(energy, TMETER_AXIS_NODE, 0, real(0.0188));
  set(energy, TMETER_AXIS_NODE, 2, unavailable());
  set(energy, TMETER_AXIS_MODULE, 1, real(0.0188));
  set(energy, TMETER_AXIS_MODULE, 2, unavailable());
  set(energy, TMETER_AXIS_MODEL, 0, real(0.0188));
  for (const auto axis : {TMETER_AXIS_MODEL, TMETER_AXIS_MODULE})
    set(params, axis, 0, integer(108));
  set(params, TMETER_AXIS_TENSOR, 0, integer(108));
  set(params, TMETER_AXIS_MODULE, 1, integer(108));
  set(detail, TMETER_AXIS_NODE, 0, real(std::nan("")));
  set(detail, TMETER_AXIS_NODE, 1, real(HUGE_VAL));
  set(detail, TMETER_AXIS_MODEL, 0, real(0.1));
  coverage_metric = "macs";
  coverage = {1, 1, 1};
  unknown_ops = {{"acme::fused", 1}};
  assertions.push_back(
      {"macs<=5G", "macs", "<=", at_least(kBeyondDouble), integer(5000000000), false, macs, 0});
  assertions.push_back({"module(\"conv\").macs > 1", "module(\"conv\").macs", ">",
                        integer(kBeyondDouble), integer(1), true, macs, 1});
  assertions.push_back({"coverage==100%", "coverage", "==", real(2.0 / 3), real(1), false});
  assertions.push_back({"unknown==0", "unknown", "==", integer(1), integer(0), false});
  assertions.push_back({"energy<1", "energy", "<", unknown(), integer(1), false, energy, 0});
}

void EveryValue::make_words() {
  graph_properties = {{"format", "torch.export"}, {"producer", "torch 2.15.0"}};
  properties = {{"tool.version", "1.0.0"},
                {"model.file", hostile_name() + ".pt2"},
                {"model.size", "2048"},
                {"analysis.seconds", "0.5"},
                {"hardware", "horowitz-45nm"}};
  config = {{"flops.convention", "torch"}};
  plugins = {{"org.test.one", "1.0.0"}};
  warnings = {"inputs were guessed", hostile_name()};
  const tmeter::Tensor weight(&tensors.front());
  auto& error = findings.emplace_back();
  error.severity = TMETER_SEVERITY_ERROR;
  error.rule = "nan";
  error.text = "weights are not numbers";
  error.evidence = "3 of 108";
  error.action = "train again";
  error.changes = {{"bytes", 1536, 768}};
  error.about(weight).about(tmeter::Module(&modules[2]));
  auto& note = findings.emplace_back();
  note.rule = "note";
  note.text = hostile_name();
  distributions.push_back(
      {"values", "values", "", tmeter::target_of(weight), {-1, 0, 0.5, 1}, {3, 0, 4}});
  series.push_back(
      {"pruning", "pruning", "share", "", "loss", "", tmeter::kWholeModel, {0, 0.5, 1}, {0, 1, 4}});
}

void EveryValue::make_sizes() {
  symbol_names_ = {"s1"};
  constexpr auto kUnbounded = std::numeric_limits<int64_t>::max();
  symbols.push_back({sizeof(tmeter_symbol_info), 0, str(symbol_names_[0]), 1, kUnbounded, 8, {}});
  formulas = {{.metric = 0,
               .module = 0,
               .flags = TMETER_FORMULA_PARTIAL,
               .text = "6·s1² - 5",
               .symbols = {0},
               .terms = {{6, {2}}, {-5, {0}}}}};
}

}  // namespace fake
