// What an opened plugin says of itself, as a manifest.
#pragma once
#include "core/config/manifest.hpp"
#include "core/plugin_host/offers.hpp"

namespace tmeter::core {

Manifest describe(const tmeter_plugin_info& info, const Offers& offers);

}  // namespace tmeter::core
