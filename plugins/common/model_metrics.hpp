// Metrics of the whole model: a plugin has a table of them, and emits values one by one.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

struct ModelMetric {
  std::string_view id, title, unit;
  int32_t kind;  // TMETER_UNIT_…
  std::string_view convention;
  int32_t better = TMETER_BETTER_LOWER;
  uint32_t flags = 0;  // TMETER_METRIC_…
};

inline tmeter::MetricSpec spec_of(const ModelMetric& m) {
  return {.id = m.id,
          .title = m.title,
          .unit = m.unit,
          .unit_kind = m.kind,
          .axis = TMETER_AXIS_MODEL,
          .aggregation = TMETER_AGGREGATE_NONE,
          .better = m.better,
          .flags = m.flags,
          .convention = m.convention};
}

inline void register_metrics(tmeter::Registrar& r, std::span<const ModelMetric> metrics) {
  for (const auto& m : metrics) r.metric(spec_of(m));
}

/// The ids of a table of metrics, separated by spaces. A registrar borrows them.
std::string ids_of(const auto& metrics) {
  std::string out;
  for (const auto& m : metrics) out += (out.empty() ? "" : " ") + std::string(m.id);
  return out;
}

inline void emit_total(const tmeter::Call& call, std::string_view id, tmeter::Cell value) {
  call.emit(id, TMETER_AXIS_MODEL, 0, value);
}

/// Emits "unavailable" for each id, with the reason as its provenance.
inline void emit_unavailable(const tmeter::Call& call, std::span<const std::string_view> ids,
                             const std::string& why) {
  for (const auto id : ids) {
    call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, why);
    emit_total(call, id, tmeter::Cell::unavailable());
  }
}

inline void emit_unavailable(const tmeter::Call& call, std::initializer_list<std::string_view> ids,
                             const std::string& why) {
  emit_unavailable(call, std::span(ids.begin(), ids.size()), why);
}

}  // namespace plugins
#pragma GCC visibility pop
