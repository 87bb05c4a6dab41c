// Runs a model (`--inference`) with a custom engine: linear, relu and acme::gated_mlp on float32.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <tmeter/cpp/executor.hpp>
#include <unordered_map>

namespace {

using tmeter::Node;
using tmeter::Value;
using Numbers = std::vector<float>;

uint64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// x · wᵀ; the rows of x and w have the same length.
Numbers product(const Numbers& x, const Numbers& w, size_t width) {
  Numbers out;
  for (size_t row = 0; row < x.size(); row += width) {
    for (size_t column = 0; column < w.size(); column += width) {
      float sum = 0;
      for (size_t i = 0; i < width; ++i) sum += x[row + i] * w[column + i];
      out.push_back(sum);
    }
  }
  return out;
}

class Net final : public tmeter::Execution {
 public:
  Net(const tmeter::Graph& graph, tmeter::ExecutorCall& call) : graph_(graph) {
    for (const auto& input : graph.inputs()) {
      if (input.is_tensor()) values_[input.handle()] = Numbers(size_of(input), 1.F);
    }
    for (const auto& node : graph.nodes()) {
      for (size_t i = 0; i < node.arg_count(); ++i) take(node.arg(i), call);
    }
  }

  void run(int32_t run, int32_t, tmeter::ExecutorCall& call) override {
    const bool reports_operators = run == TMETER_RUN_OPERATORS || run == TMETER_RUN_MEMORY;
    int64_t made = 0;
    const auto begin = report(call, TMETER_EVENT_RUN_BEGIN);
    for (const auto& node : graph_.nodes()) {
      if (call.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "cancelled");
      const auto since = reports_operators ? report(call, TMETER_EVENT_OP_BEGIN, node) : 0;
      auto& result = values_[node.output().handle()] = compute(node);
      const auto bytes = static_cast<int64_t>(result.size() * sizeof(float));
      if (run == TMETER_RUN_MEMORY) report(call, TMETER_EVENT_ALLOCATE, node, bytes), made += bytes;
      if (reports_operators) report(call, TMETER_EVENT_OP_END, node, 0, since);
    }
    // Results are kept until the end of the run.
    if (made > 0) report(call, TMETER_EVENT_FREE, Node(), made);
    report(call, TMETER_EVENT_RUN_END, Node(), 0, begin);
  }

 private:
  static size_t size_of(const Value& v) { return static_cast<size_t>(v.numel().value()); }

  /// Copies the weights from the file, or uses zeros if it has none.
  void take(const Value& v, tmeter::ExecutorCall& call) {
    const auto tensor = v.tensor();
    if (!tensor || values_.count(v.handle())) return;
    auto& numbers = values_[v.handle()] = Numbers(size_of(v));
    const auto bytes = call.weights(tensor);
    if (bytes.ptr)
      std::memcpy(numbers.data(), bytes.ptr, std::min(bytes.len, numbers.size() * sizeof(float)));
  }
  const Numbers& of(const Node& node, std::string_view argument) {
    return values_[node.input(argument).handle()];
  }

  Numbers compute(const Node& node) {
    if (node.op() == "aten::relu") {
      auto out = of(node, "self");
      for (auto& x : out) x = std::max(x, 0.F);
      return out;
    }
    if (node.op() == "aten::linear") {
      const auto& weight = of(node, "weight");
      auto out = product(of(node, "input"), weight, width_of(node, "weight"));
      if (node.arg("bias").is_tensor()) {
        const auto& bias = of(node, "bias");
        for (size_t i = 0; i < out.size(); ++i) out[i] += bias[i % bias.size()];
      }
      return out;
    }
    // acme::gated_mlp: gate, value = x · w_inᵀ; sigmoid(gate) · value · w_outᵀ
    const auto both = product(of(node, "x"), of(node, "w_in"), width_of(node, "w_in"));
    const size_t hidden = width_of(node, "w_out");
    Numbers inner;
    for (size_t i = 0; i < both.size(); ++i) {
      if (i % (2 * hidden) < hidden) inner.push_back(both[i + hidden] / (1 + std::exp(-both[i])));
    }
    return product(inner, of(node, "w_out"), hidden);
  }
  static size_t width_of(const Node& node, std::string_view argument) {
    return static_cast<size_t>(node.input(argument).shape().back());
  }

  static uint64_t report(tmeter::ExecutorCall& call, int32_t kind, const Node& node = Node(),
                         int64_t bytes = 0, uint64_t since = 0) {
    tmeter_event event{};
    event.struct_size = sizeof event;
    event.kind = kind;
    event.nanoseconds = now();
    event.node = node.handle();
    event.bytes = bytes;
    event.since = since;
    call.event(event);
    return event.nanoseconds;
  }

  tmeter::Graph graph_;
  std::unordered_map<const tmeter_value*, Numbers> values_;
};

/// UNSUPPORTED leaves the model to another executor.
std::unique_ptr<tmeter::Execution> prepare(const tmeter::Graph& graph,
                                           const tmeter_run_request& request,
                                           tmeter::ExecutorCall& call) {
  if (tmeter::to_view(request.device) != "cpu")
    throw tmeter::Error(TMETER_UNSUPPORTED, "it runs only on the CPU");
  for (const auto& node : graph.nodes()) {
    const auto op = node.op();
    const bool known = op == "aten::linear" || op == "aten::relu" || op == "acme::gated_mlp";
    if (!known || node.output().dtype().id() != TMETER_DTYPE_FLOAT32)
      throw tmeter::Error(TMETER_UNSUPPORTED, "it does not support " + std::string(op));
  }
  call.fact("engine", "@name@ 1.0.0");
  call.fact("inputs", "ones");
  return std::make_unique<Net>(graph, call);
}

}  // namespace

// Runs are new in ABI 1.1; an older host never requests them.
TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "com.example.@name@", .version = "1.0.0", .abi_minor = 1}),
                   [](tmeter::Registrar& r) { tmeter::executor<prepare>(r, "@name@"); });
