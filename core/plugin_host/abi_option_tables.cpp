// tmeter.host.option-tables/0.1: the user's entries in a plugin's tables of options.
#include <tmeter/abi/draft/option_tables.h>

#include <algorithm>
#include <cstddef>

#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/plugin_limits.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {
namespace {

const std::vector<GivenOption>& given_options(tmeter_call* call) {
  static const std::vector<GivenOption> nothing;
  return may_be_used(call) && call->given ? *call->given : nothing;
}

tmeter_status option_at(tmeter_call* call, size_t index, tmeter_given_option* out) {
  const auto& all = given_options(call);
  if (index >= all.size()) return TMETER_INVALID_ARGUMENT;
  const auto& o = all[index];
  const tmeter_given_option ours{sizeof(tmeter_given_option),
                                 o.declared,
                                 to_abi(o.path),
                                 to_abi(o.value.text),
                                 o.value.type == TMETER_OPTION_BOOL ? o.value.b : o.value.i,
                                 o.value.f};
  return fill_struct(ours, out, sizeof(tmeter_given_option));
}

void fail_at(tmeter_call* call, size_t index, size_t offset, tmeter_str message) {
  const auto& all = given_options(call);
  guard_callback(call, [&]() -> tmeter_status {
    const auto where = index < all.size() ? all[index].setting.place(offset) + ": " : std::string();
    return call->frame.error = where + visible(view(message), plugin_limits::kTextBytes), TMETER_OK;
  });
}

int32_t is_metric(tmeter_call* call, tmeter_str id) {
  if (!may_be_used(call) || !call->registry) return 0;
  const auto& plugins = call->registry->plugins();
  return std::any_of(plugins.begin(), plugins.end(), [&](const auto& p) {
    const auto& metrics = p->manifest.metrics;
    return std::find(metrics.begin(), metrics.end(), view(id)) != metrics.end();
  });
}

}  // namespace

const void* option_tables_interface() {
  static const tmeter_option_tables_api api{sizeof(tmeter_option_tables_api),
                                            0,
                                            [](tmeter_call* c) { return given_options(c).size(); },
                                            option_at,
                                            fail_at,
                                            is_metric};
  return &api;
}

}  // namespace tmeter::core
