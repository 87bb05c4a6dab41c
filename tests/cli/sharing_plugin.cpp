// A third-party plugin for the operators of tests/fixtures/acme/nn.py, whose schemas declare the
// arguments they write, the views they return and the numbers that are sizes. SHARING selects
// faults (words of the table below); TELL=1 makes it record the host's facts about every operator.
#include <cstdlib>
#include <string>
#include <tmeter/cpp/plugin.hpp>

namespace {

using tmeter::ShapeCall;

bool is(const char* name, std::string_view what) {
  const char* value = std::getenv(name);
  return value && std::string_view(value) == what;
}

void resize(ShapeCall& c) {
  c.give(c.input("x").dtype(),
         {c.input("x").shape()[0], c.arg("rows").as_int(), c.arg("columns").as_int()});
}

void pool(ShapeCall& c) {
  std::vector<int64_t> dims{c.input("x").shape()[0]};
  for (size_t i = 0; i < c.arg("size").size(); ++i) dims.push_back(c.arg("size")[i].as_int());
  // Correct for the recorded call and for no other.
  const bool other = dims[1] != 8;
  if (other && is("SHARING", "rank")) dims.push_back(1);
  const bool half = other && is("SHARING", "dtype");
  c.give(half ? tmeter::DType(TMETER_DTYPE_FLOAT16) : c.input("x").dtype(), dims);
}

void scale(ShapeCall& c) {
  if (is("SHARING", "other-shape"))
    c.give(c.input("x").dtype(), {7});
  else if (is("SHARING", "kind"))
    c.give_int(7);
  else
    c.give_like("x");
}

void window(ShapeCall& c) {
  const auto x = c.input("x").shape();
  c.give(c.input("x").dtype(), {x[0], c.arg("rows").as_int(), x[2]});
}

std::string text_of(const tmeter::Node& node, const tmeter::Call& call) {
  std::string out(node.op());
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto writes = call.writes(node, i);
    if (!writes || *writes)
      out += " " + std::string(node.arg_name(i)) + (writes ? " written" : " unknown");
  }
  constexpr const char* kKinds[] = {"unknown", "own", "view", "argument"};
  for (size_t i = 0; i < node.result_count(); ++i) {
    const auto memory = call.memory_of(node, i);
    out += std::string(" ") + kKinds[memory.kind];
    if (memory.of_argument()) out += " of " + std::string(node.arg_name(memory.argument));
  }
  return out;
}

void tell(const tmeter::Graph& graph, tmeter::Call& call) {
  for (const auto& node : graph.nodes()) {
    tmeter::Finding f;
    f.rule = "sharing";
    f.text = text_of(node, call);
    call.add(f.about(node));
  }
}

}  // namespace

TMETER_PLUGIN("com.acme.sharing", "1.0.0", [](tmeter::Registrar& r) {
  if (is("TELL", "1")) r.analysis("tell", "", "", tell);
  if (is("SHARING", "silent")) return;
  r.op("acme::scale_(Tensor(a!) x, float by) -> Tensor(a!)").shape(scale);
  r.op("acme::store(Tensor(a!) x, Tensor y) -> ()").shape([](ShapeCall&) {});
  r.op("acme::window(Tensor(a) x, int rows) -> Tensor(a)").shape(window);
  r.op("acme::resize(Tensor x, SymInt rows, SymInt columns) -> Tensor").shape(resize);
  r.op("acme::pool(Tensor x, SymInt[] size) -> Tensor").shape(pool);
});
