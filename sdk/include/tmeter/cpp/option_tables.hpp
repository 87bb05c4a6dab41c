// Options in tables of a configuration file. Draft, like abi/draft/option_tables.h.
#pragma once
#include <span>

#include "../abi/draft/option_tables.h"
#include "plugin.hpp"

TMETER_SDK_BEGIN

/// The given options of this plugin, by index.
class GivenOptions {
 public:
  explicit GivenOptions(const Call& call) : h_(call.handle()) {}
  size_t size() const { return api().count(h_); }
  tmeter_given_option operator[](size_t i) const {
    tmeter_given_option o{};
    o.struct_size = sizeof o;
    check(api().at(h_, i, &o));
    return o;
  }
  /// Reports a defect of the option at a byte of its text.
  [[noreturn]] void fail(size_t i, size_t offset, std::string_view message) const {
    api().fail_at(h_, i, offset, to_abi(message));
    detail::raise(Reported(TMETER_BAD_USAGE));
  }
  bool is_metric(std::string_view id) const { return api().is_metric(h_, to_abi(id)) != 0; }

 private:
  static const tmeter_option_tables_api& api() {
    static const auto& api =
        detail::interface_of<tmeter_option_tables_api>(TMETER_HOST_OPTION_TABLES);
    return api;
  }
  tmeter_call* h_;
};

namespace detail {

/// The entry `inner` of a Registrar, extended by tables of options.
template <auto Tables>
const tmeter_plugin_entry_v1* with_option_tables(const tmeter_plugin_entry_v1* inner) {
  static const auto list = [] {
    std::vector<tmeter_option_desc> out;
    for (const OptionSpec& o : Tables())
      out.push_back({sizeof(tmeter_option_desc), o.type, to_abi(o.key), to_abi(o.default_value),
                     to_abi(o.choices), to_abi(o.text), o.min, o.max});
    return out;
  }();
  static const tmeter_option_tables table{
      sizeof(tmeter_option_tables), static_cast<uint32_t>(list.size()),
      [](uint32_t i, void*) { return i < list.size() ? &list[i] : nullptr; }, nullptr};
  static tmeter_plugin_entry_v1 entry = *inner;
  entry.get_capability = [](tmeter_str capability, void* user) -> const void* {
    if (to_view(capability) == TMETER_CAP_OPTION_TABLES) return &table;
    return static_cast<Registrar*>(user)->capability(to_view(capability));
  };
  return &entry;
}

}  // namespace detail

TMETER_SDK_END

/// TMETER_PLUGIN_INFO with tables of options: `tables_` is a function that gives a range of
/// OptionSpec, whose strings live for ever.
#define TMETER_PLUGIN_WITH_OPTION_TABLES(info_, tables_, ...)                                      \
  extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {                  \
    static constexpr tmeter::PluginInfo info = info_;                                              \
    return tmeter::detail::with_option_tables<tables_>(tmeter::detail::entry(                      \
        info.id, info.name.empty() ? tmeter::detail::last_part(info.id) : info.name, info.version, \
        info.description, info.needs, info.rights, info.abi_minor, __VA_ARGS__));                  \
  }
