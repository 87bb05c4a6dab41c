// A decoder served by an engine: weights and caches for a load, and the largest load for a memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/serving/engine.hpp"
#include "plugins/common/wording.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

// Bytes written by a person: "24GiB", "80 GB".

/// Units B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024). Empty for
/// other text, and for sizes above 2^62.
std::optional<int64_t> bytes_of(std::string_view text);

inline constexpr int64_t kMaxDevices = 1024;
/// The largest number of tokens or sequences in a search.
inline constexpr int64_t kMaxSearched = int64_t{1} << 30;

/// The values of the options `serving.*`.
struct Request {
  const Engine* engine = nullptr;
  Load load;
  tmeter::Count memory = 0;  // bytes of all devices that the engine uses; 0: not given
  double memory_share = 1;   // share of a device's memory that the engine uses
  bool own_context = false;  // the recorded context, because none is given

  /// The bytes of one device's memory that the engine takes.
  tmeter::Count usable(tmeter::Count each) const;
};

/// `prefix`: "serving." in other plugins, which read the options of serving. `recorded`: tokens.
Request request_of(const tmeter::Call& call, std::string_view prefix, int64_t recorded);

/// The text of the option `key`; "": not given. Throws Error(TMETER_BAD_USAGE) beginning with
/// `name` ("fit.memory") for text that is not a size above 0.
std::optional<tmeter::Count> memory_option(const tmeter::Call& call, std::string_view key,
                                           std::string_view name);
/// The value, 0 to `most`, of an option without a default; nothing: not given. Throws
/// Error(TMETER_BAD_USAGE) for other text.
std::optional<double> number_option(const tmeter::Call& call, std::string_view key, double most);
/// `capacity.dram` of the hardware profile.
std::optional<tmeter::Count> published_memory(const tmeter::Call& call);

/// Throws Error(TMETER_BAD_USAGE) beginning with `name` for more than 2^63 bytes.
tmeter::Count memory_of_all(tmeter::Count each, int64_t devices, std::string_view name);

using plugins::bytes_text;

class Serving {
 public:
  Serving(std::vector<LayerCache> layers, Request request, tmeter::Count weights)
      : layers_(std::move(layers)), request_(std::move(request)), weights_(weights) {}

  CacheBytes caches(const Load& load) const { return request_.engine->bytes(layers_, load); }
  /// Bytes for the requested load. Throws Error(TMETER_BAD_USAGE) if its bytes exceed 2^63.
  CacheBytes caches() const;
  tmeter::Count all(const Load& load) const { return weights_ + caches(load).all(); }
  const Request& request() const { return request_; }
  tmeter::Count weights() const { return weights_; }
  const std::vector<LayerCache>& layers() const { return layers_; }
  /// The cache of one token, in the layers that keep the whole context.
  tmeter::Count token_bytes() const;

  /// The longest context with which `load` fits into `memory`; at most kMaxSearched; 0: none.
  int64_t longest_context(const Load& load, tmeter::Count memory) const;
  int64_t max_sequences(const Load& load, tmeter::Count memory) const;
  /// The number of devices of `each` bytes for the requested load; nothing: not even kMaxDevices
  /// suffice, or the engine does not share this model.
  std::optional<int64_t> min_devices(tmeter::Count each) const;
  /// False for sizes beyond 2^63, too.
  bool fits(const Load& load, tmeter::Count memory) const;

 private:
  int64_t largest_of(int64_t Load::*size, Load load, tmeter::Count memory) const;

  std::vector<LayerCache> layers_;
  Request request_;
  tmeter::Count weights_;
};

}  // namespace serving
#pragma GCC visibility pop
