// A third-party plugin for acme::gated_mlp. RULE selects the behaviour of its shape rule (the table
// below; empty: no rule). GIVES adds capabilities: words of "macs other class=NAME output=BYTES
// block". -DID="com.acme.b" compiles another plugin from this file.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>
#include <tmeter/cpp/plugin.hpp>

#ifndef ID
#define ID "com.acme.shapes"
#endif

namespace {

using tmeter::ShapeCall;

constexpr std::string_view kOp = "acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor";

std::vector<int64_t> dims_of(ShapeCall& c) {
  const auto x = c.input("x").shape();
  return {x.begin(), x.end()};
}

void ask_itself(ShapeCall& c) {
  tmeter::ShapeQuery query(c.call().handle());
  const auto f32 = tmeter::DType(TMETER_DTYPE_FLOAT32);
  auto builder = query.builder();
  const auto id = builder.tensor_value(f32, std::vector<tmeter_dim>{tmeter::GraphBuilder::dim(2)});
  query.infer("acme::gated_mlp", {id, id, id}, 1);
}

/// A shape rule with other numbers of arguments and results than the operator's schema.
template <size_t arguments, size_t results>
void ask_pair(ShapeCall& c) {
  tmeter::ShapeQuery query(c.call().handle());
  const auto id = query.builder().integer(int64_t{2});
  query.infer("acme::pair", std::vector<tmeter_id>(arguments, id), results);
}

const std::map<std::string, void (*)(ShapeCall&)>& rules() {
  static const std::map<std::string, void (*)(ShapeCall&)> table{
      {"like", [](ShapeCall& c) { c.give_like("x"); }},
      {"negative",
       [](ShapeCall& c) {
         c.give(c.input("x").dtype(), {-1, 32});
       }},
      {"absurd",
       [](ShapeCall& c) {
         c.give(c.input("x").dtype(), {int64_t{1} << 62, 1 << 30});
       }},
      {"rank", [](ShapeCall& c) { c.give(c.input("x").dtype(), std::vector<int64_t>(100, 1)); }},
      {"nothing", [](ShapeCall&) {}},
      {"twice", [](ShapeCall& c) { c.give_like("x"), c.give_like("x"); }},
      {"number", [](ShapeCall& c) { c.give_int(7); }},
      {"none", [](ShapeCall& c) { c.give_none(); }},
      {"type", [](ShapeCall& c) { c.give(tmeter::DType(77), dims_of(c)); }},
      {"wide",
       [](ShapeCall& c) {
         c.give(c.input("x").dtype(), {2, 8, 33});
       }},
      {"half", [](ShapeCall& c) { c.give(tmeter::DType(TMETER_DTYPE_FLOAT16), dims_of(c)); }},
      {"argument", [](ShapeCall& c) { c.give_like("nosuch"); }},
      {"throw", [](ShapeCall&) { throw std::runtime_error("no such table"); }},
      {"refuse", [](ShapeCall& c) { c.refuse("this is never done"); }},
      {"batch",
       [](ShapeCall& c) {
         if (dims_of(c).front() != 2) c.refuse("it takes two samples, no more");
         c.give_like("x");
       }},
      {"crash", [](ShapeCall&) { std::raise(SIGSEGV); }},
      {"exit", [](ShapeCall&) { std::_Exit(3); }},
      {"hang", [](ShapeCall&) { std::this_thread::sleep_for(std::chrono::hours(1)); }},
      {"itself", ask_itself},
      {"asks-results", ask_pair<2, 3>},
      {"asks-arguments", ask_pair<3, 2>},
  };
  return table;
}

const char* env(const char* name) { return std::getenv(name) ? std::getenv(name) : ""; }

void set_up(tmeter::Registrar& r) {
  auto op = r.op(kOp);
  if (const auto rule = rules().find(env("RULE")); rule != rules().end()) op.shape(rule->second);
  if (std::string_view(env("RULE")) == "linear") {
    r.op("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
        .shape([](ShapeCall& c) { c.give(c.input("input").dtype(), {1}); });
    op.shape(rules().at("like"));
  }
  if (std::string_view(env("RULE")) == "schema")
    r.op("acme::gated_mlp(Widget x) -> [").shape(rules().at("like"));
  if (std::string_view(env("RULE")) == "two")
    r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> (Tensor, Tensor)")
        .shape(rules().at("twice"));
  if (std::string_view(env("RULE")) == "overload")
    r.op("acme::gated_mlp.other(Tensor x) -> Tensor").shape(rules().at("like"));
  r.op("acme::pair(Tensor x, int rows) -> (Tensor, Tensor)").shape([](ShapeCall& c) {
    c.give_like("x");
    c.give(tmeter::DType(TMETER_DTYPE_FLOAT32), {c.arg("rows").as_int()});
  });
  r.op("acme::parts(Tensor x, int rows) -> Tensor[]").shape([](ShapeCall& c) {
    const auto f32 = tmeter::DType(TMETER_DTYPE_FLOAT32);
    c.give_list({{f32, dims_of(c)}, {f32, {c.arg("rows").as_int()}}});
  });
  std::istringstream words(env("GIVES"));
  static std::string kind;
  for (std::string word; words >> word;) {
    const auto value = word.substr(word.find('=') + 1);
    if (word == "macs") op.handle("macs", [](const tmeter::Node&) { return tmeter::Count(1000); });
    if (word == "other")
      op.handle("other_flops", [](const tmeter::Node&) { return tmeter::Count(10); });
    if (word == "block")  // of a whole module; its operators have none of their own
      r.module_type("acme.nn.FusedBlock", "output_bytes",
                    [](const tmeter::Graph&, const tmeter::ModuleCall&, tmeter::Call&) {
                      return tmeter::Cell(tmeter::Count(5));
                    });
    if (word.starts_with("class=")) op.work(kind = value);
    if (word.starts_with("output=")) {
      const tmeter::Count bytes = std::atoll(value.c_str());
      op.handle("output_bytes", [bytes](const tmeter::Node&) { return bytes; });
    }
  }
}

}  // namespace

TMETER_PLUGIN(ID, "1.0.0", [](tmeter::Registrar& r) { set_up(r); })
