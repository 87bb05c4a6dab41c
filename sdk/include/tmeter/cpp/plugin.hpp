// The main header for plugin authors: TMETER_PLUGIN and the Registrar.
//
//   TMETER_PLUGIN("com.acme.layers", "1.0.0", [](tmeter::Registrar& r) {
//     r.op("acme::gated_mlp").handle("macs", macs);
//   });
//
// Registration happens in `init`, never before main; an exception there fails `init`, and its text
// is shown to the user. Registered objects live until `deinit`. Handlers are called by one
// thread at a time.
#pragma once
#include <functional>
#include <list>
#include <memory>

#include "loader.hpp"
#include "report.hpp"
#include "shape_rule.hpp"
#include "tensor_analysis.hpp"

TMETER_SDK_BEGIN

struct MetricSpec {
  std::string_view id{}, title{}, unit{};
  int32_t unit_kind = TMETER_UNIT_COUNT;
  int32_t axis = TMETER_AXIS_NODE;
  int32_t aggregation = TMETER_AGGREGATE_SUM;
  int32_t better = TMETER_BETTER_LOWER;
  uint32_t flags = 0;
  std::string_view convention{}, description{};
  std::string_view weight{};  // id of the metric that weighs a WEIGHTED_MEAN
};

struct OptionSpec {
  std::string_view key{};
  int32_t type = TMETER_OPTION_TEXT;
  std::string_view default_value{}, text{};
  std::string_view choices{};  // CHOICE: separated by spaces
  double min = 1, max = 0;     // bounds of INT and FLOAT; min > max: none
};

struct Match {
  std::string_view conditions;  // loader.h: "zip:*/models/*.json"
  int32_t score = 50;
};

/// Writers as a class: derive, implement `write`, register with Registrar::writer.
class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  virtual void write(const Report& report, Output& out) = 0;
};

/// Collects a plugin's capabilities. Texts given as string_view must be literals (or live for
/// ever).
class Registrar {
 public:
  using Handler = std::function<Cell(const Node&, Call&)>;
  using ModuleHandler = std::function<Cell(const Graph&, const ModuleCall&, Call&)>;
  using Analysis = std::function<void(const Graph&, Call&)>;
  using Load = std::function<tmeter_status(const Request&, GraphBuilder&, Call&)>;
  using Propagate = std::function<void(const Graph&, GraphBuilder&, Call&)>;
  using Write = std::function<void(const Report&, Output&, Call&)>;
  using Configure = std::function<void(Call&)>;

  /// Handlers of one operator: "aten::conv2d", "aten::add.Tensor", a full schema, or "*".
  class Op {
   public:
    /// `f` is Result(const Node&) or Result(const Node&, Call&); Result: Count, double or Cell.
    template <class F>
    Op& handle(std::string_view metric, F f, int32_t priority = 0) {
      r_->add_op(op_, metric, priority, wrap(std::move(f)));
      return *this;
    }
    /// A rule that this operator costs nothing under the metric.
    Op& zero(std::string_view metric, int32_t priority = 0) {
      r_->add_op(op_, metric, priority, nullptr);
      return *this;
    }

    /// Its kind of work, a class of abi/op_class.h: "matmul", "attention", … The energy of
    /// its arithmetic follows the hardware profile's values for that class.
    Op& work(std::string_view class_name) {
      r_->op_classes_.push_back({sizeof(tmeter_op_class), 0, to_abi(op_), to_abi(class_name)});
      return *this;
    }

    /// The shapes of its results, so that programs calling it can be run without the library that
    /// implements it. Needs the full schema in `op`.
    Op& shape(std::function<void(ShapeCall&)> f) {
      r_->add_shape_rule(schema_, std::move(f));
      return *this;
    }

   private:
    friend class Registrar;
    Op(Registrar* r, std::string_view op) : r_(r), schema_(op), op_(op.substr(0, op.find('('))) {}
    Registrar* r_;
    std::string_view schema_, op_;
  };

  Op op(std::string_view name) { return {this, name}; }
  /// Handlers of operators added after this keep no state between calls and
  /// depend only on the operator's signature: the host may call them once for
  /// all equal operators. See TMETER_HANDLER_BY_SIGNATURE in abi/op_handler.h.
  void handlers_by_signature() { op_flags_ = TMETER_HANDLER_BY_SIGNATURE; }

  /// The cost of each call of a module type, instead of the sum over its operators:
  /// "acme.nn.Fused", "Fused", or "*". `follows`: only calls that have such a value under one
  /// of these metrics (ids separated by spaces), for a metric that is computed from them. See
  /// abi/op_handler.h.
  void module_type(std::string_view type, std::string_view metric, ModuleHandler f,
                   int32_t priority = 0, std::string_view follows = {}) {
    auto& stored = module_functions_.emplace_back(std::move(f));
    module_handlers_.push_back({sizeof(tmeter_module_handler), 0, to_abi(metric), to_abi(type),
                                priority, 0, &stored, &Registrar::call_module_handler,
                                to_abi(follows)});
  }
  void metric(const MetricSpec& m) {
    metrics_.push_back({sizeof(tmeter_metric_desc), m.flags, to_abi(m.id), to_abi(m.title),
                        to_abi(m.unit), m.unit_kind, m.axis, m.aggregation, m.better,
                        to_abi(m.weight), to_abi(m.convention), to_abi(m.description)});
  }
  /// Called before each run that uses the plugin, when options are known: set conventions
  /// and provenance here.
  void configure(Configure f) { configure_ = std::move(f); }
  void option(const OptionSpec& o) {
    options_.push_back({sizeof(tmeter_option_desc), o.type, to_abi(o.key), to_abi(o.default_value),
                        to_abi(o.choices), to_abi(o.text), o.min, o.max});
  }
  void analysis(std::string_view name, std::string_view required, std::string_view produced,
                Analysis f) {
    auto& stored = analysis_functions_.emplace_back(std::move(f));
    analyses_.push_back({sizeof(tmeter_analysis), 0, to_abi(name), to_abi(required),
                         to_abi(produced), &Registrar::call_analysis, &stored});
  }
  /// `wants`: bool(const Tensor&, Call&); `make`: std::unique_ptr<TensorAnalysis>(const
  /// TensorPart&, Call&), which may run on any thread. See tensor_analysis.hpp.
  void tensor_analysis(std::string_view name, std::string_view produced,
                       TensorAnalysisMaker::Wants wants, TensorAnalysisMaker::Make make) {
    auto& stored = tensor_analysis_makers_.emplace_back(
        TensorAnalysisMaker{std::move(wants), std::move(make)});
    tensor_analyses_.push_back(detail::tensor_analysis_table(name, produced, &stored));
  }
  /// `f` throws an error about the file, or returns a status: `return call.refuse(
  /// TMETER_BAD_MODEL, "…")`, which needs no exceptions.
  template <class F>
  void loader(std::string_view name, std::string_view title, std::initializer_list<Match> matches,
              F f, std::string_view engine = {}) {
    auto& stored = loader_functions_.emplace_back(
        [f](const Request& request, GraphBuilder& builder, Call& call) -> tmeter_status {
          if constexpr (std::is_void_v<decltype(f(request, builder, call))>)
            return f(request, builder, call), TMETER_OK;
          else
            return f(request, builder, call);
        });
    auto& rules = matches_.emplace_back();
    for (const auto& m : matches) rules.push_back({to_abi(m.conditions), m.score, 0});
    loaders_.push_back({sizeof(tmeter_loader), static_cast<uint32_t>(rules.size()), to_abi(name),
                        to_abi(title), rules.data(), &Registrar::call_load, &stored,
                        to_abi(engine)});
  }
  void propagator(std::string_view name, Propagate f) {
    auto& stored = propagate_functions_.emplace_back(std::move(f));
    propagators_.push_back(
        {sizeof(tmeter_propagator), 0, to_abi(name), &Registrar::call_propagate, &stored});
  }
  void writer(std::string_view name, std::string_view extension, std::string_view media_type,
              Write f) {
    auto& stored = write_functions_.emplace_back(std::move(f));
    writers_.push_back({sizeof(tmeter_writer), 0, to_abi(name), to_abi(extension),
                        to_abi(media_type), &Registrar::call_writer, &stored});
  }

  /// Another capability, such as a draft's: its table, which lives for ever.
  void offer(std::string_view capability, const void* table) {
    offered_.push_back({capability, table});
  }

  // --- called by the host (detail) ---------------------------------------------------------
  static Registrar& instance() {
    static Registrar registrar;
    return registrar;
  }
  void reset() {
    std::destroy_at(this);
    std::construct_at(this);
  }
  const void* capability(std::string_view id);
  static tmeter_status TMETER_ABI call_configure(tmeter_call* call, void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      Call c(call);
      const auto& configure = static_cast<Registrar*>(user)->configure_;
      if (configure) configure(c);
      return TMETER_OK;
    });
  }

 private:
  template <class F>
  static Handler wrap(F f) {
    if constexpr (std::is_invocable_v<F, const Node&, Call&>) {
      return [f](const Node& n, Call& c) { return Cell(f(n, c)); };
    } else {
      return [f](const Node& n, Call&) { return Cell(f(n)); };
    }
  }
  void add_op(std::string_view op, std::string_view metric, int32_t priority, Handler f) {
    tmeter_op_handler h{sizeof(tmeter_op_handler),
                        op_flags_,
                        to_abi(metric),
                        to_abi(op),
                        priority,
                        0,
                        nullptr,
                        nullptr};
    if (f) {
      h.user = &op_functions_.emplace_back(std::move(f));
      h.eval = &Registrar::call_op_handler;
    } else {
      h.flags |= TMETER_HANDLER_ZERO_BY_RULE;
    }
    op_handlers_.push_back(h);
  }

  struct ShapeFunction {
    std::string_view schema;
    std::function<void(ShapeCall&)> function;
  };
  void add_shape_rule(std::string_view schema, std::function<void(ShapeCall&)> f) {
    auto& stored = shape_functions_.emplace_back(ShapeFunction{schema, std::move(f)});
    shape_rules_.push_back(
        {sizeof(tmeter_shape_rule), 0, to_abi(schema), &stored, &Registrar::call_shape_rule});
  }
  static tmeter_status TMETER_ABI call_shape_rule(tmeter_call* call,
                                                  const tmeter_value* const* args, size_t count,
                                                  tmeter_builder* builder, tmeter_id* results,
                                                  size_t result_count, void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      const auto& rule = *static_cast<ShapeFunction*>(user);
      ShapeCall c(call, rule.schema, args, count, builder, results, result_count);
      rule.function(c);
      return TMETER_OK;
    });
  }

  static tmeter_status emit(tmeter_call* call, const Cell& cell) {
    // A value read at a covered node is not a value of this node.
    if (cell.is_unknown() || cell.in_module()) return TMETER_UNSUPPORTED;
    return detail::results_api().emit(call, cell.abi());
  }
  static tmeter_status TMETER_ABI call_op_handler(tmeter_call* call, const tmeter_node* node,
                                                  void* user) {
    return detail::guarded(call, [&] {
      Call c(call);
      return emit(call, (*static_cast<Handler*>(user))(Node(node), c));
    });
  }
  static tmeter_status TMETER_ABI call_module_handler(tmeter_call* call, const tmeter_graph* graph,
                                                      const tmeter_module_call* module,
                                                      void* user) {
    return detail::guarded(call, [&] {
      Call c(call);
      return emit(call, (*static_cast<ModuleHandler*>(user))(Graph(graph), ModuleCall(module), c));
    });
  }
  static tmeter_status TMETER_ABI call_writer(tmeter_call* call, const tmeter_report* report,
                                              tmeter_output* out, void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      Call c(call);
      Output output(out);
      (*static_cast<Write*>(user))(Report(report), output, c);
      return TMETER_OK;
    });
  }
  static tmeter_status TMETER_ABI call_analysis(tmeter_call* call, const tmeter_graph* graph,
                                                void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      Call c(call);
      (*static_cast<Analysis*>(user))(Graph(graph), c);
      return TMETER_OK;
    });
  }
  static tmeter_status TMETER_ABI call_load(tmeter_call* call, const tmeter_request* request,
                                            tmeter_builder* builder, void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      Call c(call);
      GraphBuilder b(builder);
      const auto status = (*static_cast<Load*>(user))(Request(call, request), b, c);
      return status == TMETER_OK ? b.refused() : status;
    });
  }
  static tmeter_status TMETER_ABI call_propagate(tmeter_call* call, const tmeter_graph* graph,
                                                 tmeter_builder* builder, void* user) {
    return detail::guarded(call, [&]() -> tmeter_status {
      Call c(call);
      GraphBuilder b(builder);
      (*static_cast<Propagate*>(user))(Graph(graph), b, c);
      return TMETER_OK;
    });
  }
  template <auto Member>
  static auto TMETER_ABI get(uint32_t i, void* user)
      -> decltype(&(std::declval<Registrar&>().*Member)[0]) {
    auto& list = static_cast<Registrar*>(user)->*Member;
    return i < list.size() ? &list[i] : nullptr;
  }
  // A table {struct_size, count, get, user}; null: the plugin has no such capability.
  template <class Table, auto Member>
  const void* table() {
    static Table t;
    t = Table{};
    t.struct_size = sizeof(Table);
    t.count = static_cast<uint32_t>((this->*Member).size());
    t.get = [](uint32_t i, void* user) -> decltype(t.get(0, nullptr)) {
      return get<Member>(i, user);
    };
    t.user = this;
    return t.count ? &t : nullptr;
  }

  Configure configure_;
  // Lists, because tables point to the functions; each plugin compiles their code.
  std::list<Handler> op_functions_;
  std::list<ModuleHandler> module_functions_;
  std::list<Analysis> analysis_functions_;
  std::list<TensorAnalysisMaker> tensor_analysis_makers_;
  std::list<Load> loader_functions_;
  std::list<Propagate> propagate_functions_;
  std::list<Write> write_functions_;
  std::list<std::vector<tmeter_match>> matches_;
  std::list<ShapeFunction> shape_functions_;
  std::vector<tmeter_shape_rule> shape_rules_;
  std::vector<tmeter_op_class> op_classes_;
  std::vector<tmeter_op_handler> op_handlers_;
  uint32_t op_flags_ = 0;  // flags of later handlers
  std::vector<tmeter_module_handler> module_handlers_;
  std::vector<tmeter_metric_desc> metrics_;
  std::vector<tmeter_option_desc> options_;
  std::vector<tmeter_analysis> analyses_;
  std::vector<tmeter_tensor_analysis> tensor_analyses_;
  std::vector<tmeter_loader> loaders_;
  std::vector<tmeter_propagator> propagators_;
  std::vector<tmeter_writer> writers_;
  std::vector<std::pair<std::string_view, const void*>> offered_;
};

inline const void* Registrar::capability(std::string_view id) {
  if (id == TMETER_CAP_OP_HANDLER) return table<tmeter_op_handlers, &Registrar::op_handlers_>();
  if (id == TMETER_CAP_OP_CLASS) return table<tmeter_op_classes, &Registrar::op_classes_>();
  if (id == TMETER_CAP_MODULE_HANDLER)
    return table<tmeter_module_handlers, &Registrar::module_handlers_>();
  if (id == TMETER_CAP_OPTIONS) return table<tmeter_options, &Registrar::options_>();
  if (id == TMETER_CAP_ANALYSIS) return table<tmeter_analyses, &Registrar::analyses_>();
  if (id == TMETER_CAP_TENSOR_ANALYSIS)
    return table<tmeter_tensor_analyses, &Registrar::tensor_analyses_>();
  if (id == TMETER_CAP_SHAPE_RULE) return table<tmeter_shape_rules, &Registrar::shape_rules_>();
  if (id == TMETER_CAP_LOADER) return table<tmeter_loaders, &Registrar::loaders_>();
  if (id == TMETER_CAP_PROPAGATOR) return table<tmeter_propagators, &Registrar::propagators_>();
  if (id == TMETER_CAP_REPORT_WRITER) return table<tmeter_writers, &Registrar::writers_>();
  if (id == TMETER_CAP_METRICS) return table<tmeter_metrics, &Registrar::metrics_>();
  for (const auto& [offered, given] : offered_)
    if (offered == id) return given;
  return nullptr;
}

namespace detail {

/// The entry of one plugin. `Setup` is void(Registrar&); it runs in `init`.
template <class Setup>
const tmeter_plugin_entry_v1* entry(std::string_view id, std::string_view name,
                                    std::string_view version, std::string_view description,
                                    std::string_view needs, std::string_view rights,
                                    uint32_t abi_minor, Setup) {
  static tmeter_plugin_info info{sizeof info,     0,
                                 to_abi(id),      to_abi(name),
                                 to_abi(version), to_abi(description),
                                 to_abi(needs),   to_abi(rights)};
  static const tmeter_plugin_entry_v1 entry{
      sizeof entry,
      abi_minor,
      &info,
      &Registrar::instance(),
      [](tmeter_call* call, const tmeter_host_v1* h, tmeter_str, void* user) -> tmeter_status {
        host() = h;
        return guarded(call, [&]() -> tmeter_status {
          Setup{}(*static_cast<Registrar*>(user));
          return TMETER_OK;
        });
      },
      [](void* user) { static_cast<Registrar*>(user)->reset(); },
      [](tmeter_str capability, void* user) -> const void* {
        return static_cast<Registrar*>(user)->capability(to_view(capability));
      },
      &Registrar::call_configure};
  return &entry;
}

/// "com.acme.layers" → "layers": the short name unless one is given.
constexpr std::string_view last_part(std::string_view id) {
  const auto dot = id.rfind('.');
  return dot == std::string_view::npos ? id : id.substr(dot + 1);
}

}  // namespace detail

/// A plugin's description of itself, read before `init`: TMETER_PLUGIN_INFO takes one.
struct PluginInfo {
  std::string_view id{}, version{}, description{};
  std::string_view needs{};   // short names of required plugins, separated by spaces
  std::string_view name{};    // empty: the last part of the id
  std::string_view rights{};  // abi/entry.h: "network", "files", "processes", "threads"
  uint32_t abi_minor = 0;     // ABI of the oldest supported host
};

TMETER_SDK_END

/// Defines the one exported symbol. `setup` is a captureless lambda taking tmeter::Registrar&.
#define TMETER_PLUGIN_INFO(info_, ...)                                                             \
  extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {                  \
    static constexpr tmeter::PluginInfo info = info_;                                              \
    return tmeter::detail::entry(                                                                  \
        info.id, info.name.empty() ? tmeter::detail::last_part(info.id) : info.name, info.version, \
        info.description, info.needs, info.rights, info.abi_minor, __VA_ARGS__);                   \
  }
#define TMETER_PLUGIN(id_, version_, ...) \
  TMETER_PLUGIN_INFO((tmeter::PluginInfo{id_, version_, {}, {}, {}, {}}), __VA_ARGS__)
