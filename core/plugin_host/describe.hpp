// What an opened plugin says of itself, as a manifest.
#pragma once
#include "core/config/manifest.hpp"
#include "core/plugin_host/offers.hpp"

namespace tmeter::core {

Manifest describe(const StartedPlugin& plugin, const Offers& offers);

}  // namespace tmeter::core
