// Values of the model under other sizes or options. Draft, like abi/draft/trials.h.
#pragma once
#include <optional>
#include <span>

#include "../abi/draft/trials.h"
#include "call.hpp"

TMETER_SDK_BEGIN

/// The model's value of a metric. Nothing: the model cannot have the sizes;
/// unsupported: this run makes no trials, or no plugin has the metric.
inline std::optional<Cell> try_figure(const Call& call, std::string_view metric,
                                      std::span<const tmeter_trial_size> sizes,
                                      std::span<const tmeter_trial_option> options = {}) {
  static const auto& api = detail::interface_of<tmeter_trials_api>(TMETER_HOST_TRIALS);
  tmeter_number n{};
  const auto status = api.figure(call.handle(), to_abi(metric), sizes.data(), sizes.size(),
                                 options.data(), options.size(), &n);
  if (status == TMETER_CANNOT_RUN) return std::nullopt;
  if (status == TMETER_UNSUPPORTED) return Cell::unsupported();
  check(status);
  return Cell(n);
}

TMETER_SDK_END
