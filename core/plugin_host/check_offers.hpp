// What a plugin offers, checked once when it is opened: callbacks that are not there, names that
// cannot be, two of one kind. Whoever works with the tables later relies on it.
#pragma once
#include "core/plugin_host/offers.hpp"

namespace tmeter::core {

/// Throws Error(kPlugin), naming plugin, table and item.
void check_offers(const StartedPlugin& plugin, const Offers& offers);

}  // namespace tmeter::core
