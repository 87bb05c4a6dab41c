#include "core/plugin_host/decoders.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {
namespace {

bool has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

tmeter_bytes bytes_of(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

std::string doing(const Tensor& t) {
  return "while decoding tensor '" + std::string(t.name) + "' (" + std::string(t.encoding->id) +
         ")";
}

const tmeter_decoder* decoder_of(const Plugin& plugin, std::string_view encoding) {
  for (const auto& d : plugin.offers().decoders)
    if (has(split(view(d.encodings), " "), encoding)) return &d;
  return nullptr;
}

}  // namespace

Decoders::Decoders(Registry& registry, const Graph& graph, CallLog& log)
    : graph_(graph), log_(log) {
  for (const auto& t : graph.tensors())
    if (t.encoding && !choices_.contains(t.encoding->id)) find(registry, t.encoding->id);
}

Decoders::~Decoders() {
  for (const auto& opened : opened_) {
    const auto& o = opened.second;  // clang 14 (./dev fuzz) captures no structured bindings
    if (!o.state) continue;
    const auto& k = *o.choice;
    call_release(k.plugin->manifest.id, "while closing its decoder",
                 [&] { k.decoder->close(o.state, k.decoder->user); });
  }
}

void Decoders::find(Registry& registry, std::string_view encoding) {
  auto& choice = choices_[std::string(encoding)];
  Plugin* found = nullptr;
  for (const auto& p : registry.plugins()) {
    if (!has(p->manifest.decoders, encoding)) continue;
    if (found)
      throw Error(ErrorKind::kUsage, "both plugin " + found->manifest.id + " and " +
                                         p->manifest.id + " decode '" + std::string(encoding) +
                                         "'; leave one of them out");
    found = p.get();
  }
  if (!found) {
    choice.why = "no plugin decodes '" + std::string(encoding) + "'";
    return;
  }
  if (found->library.empty()) {
    choice.why = "plugin " + found->manifest.id + ", which decodes '" + std::string(encoding) +
                 "', is not available: " + found->manifest.unavailable;
    return;
  }
  registry.open(*found);
  choice.plugin = found;
  choice.decoder = decoder_of(*found, encoding);
  if (!choice.decoder)
    choice.why = found->failure.empty() ? "its decoder is missing" : found->failure;
}

tmeter_call Decoders::call_of(const DecoderChoice& choice) const {
  tmeter_call call;
  call.plugin_id = choice.plugin->call.plugin_id;
  call.options = choice.plugin->call.options;
  call.run.log = &log_;
  call.run.graph = &graph_;
  return call;
}

void Decoders::open(const Tensor& t, const TensorBytes& bytes, OpenedTensor& out) {
  out.choice = &choices_.find(t.encoding->id)->second;
  const auto& choice = *out.choice;
  if (!choice.decoder) {
    out.why = choice.why;
    return;
  }
  for (const auto& p : t.encoding->parts) {
    out.parts.push_back(bytes_of(bytes.stored(p)));
    if (out.parts.back().len == 0 && part_bytes(p) > 0) {
      out.why = "the bytes of '" + std::string(p.name) + "' are not in the file";
      return;
    }
  }
  out.stored = {sizeof out.stored, static_cast<uint32_t>(out.parts.size()), to_handle(&t),
                bytes_of(bytes.stored(t)), out.parts.data()};
  auto call = call_of(choice);
  const auto status = invoke(call, doing(t), [&](tmeter_call* c) -> tmeter_status {
    const auto answer = choice.decoder->open(c, &out.stored, &out.state, choice.decoder->user);
    const bool at_fault = answer == TMETER_INTERNAL || answer == TMETER_INVALID_ARGUMENT;
    if (answer == TMETER_OK || at_fault || c->frame.error.empty()) return answer;
    out.why = visible(c->frame.error, plugin_limits::kTextBytes);
    return TMETER_OK;
  });
  if (status == TMETER_UNSUPPORTED)
    out.why = "plugin " + choice.plugin->manifest.id + " does not decode it";
}

const Decoders::OpenedTensor& Decoders::opened(const Tensor& t, const TensorBytes* bytes) {
  const std::lock_guard lock(mutex_);
  const auto [it, added] = opened_.try_emplace(&t);
  if (added && bytes) open(t, *bytes, it->second);
  return it->second;
}

std::string_view Decoders::unavailable(const Tensor& t, const TensorBytes& bytes) {
  return opened(t, &bytes).why;
}

void Decoders::decode(const Tensor& t, int64_t first, int64_t count, float* out) {
  const auto& o = opened(t, nullptr);
  if (!o.choice || !o.choice->decoder || !o.why.empty())
    throw Error(ErrorKind::kInternal, "tensor '" + std::string(t.name) + "' cannot be decoded");
  auto call = call_of(*o.choice);
  const auto* d = o.choice->decoder;
  const auto status = invoke(call, doing(t), [&](tmeter_call* c) {
    return d->decode(c, o.state, first, count, out, d->user);
  });
  if (status != TMETER_OK)
    throw PluginError(call.plugin_id, doing(t), "it declines a tensor that it opened");
}

bool Decoders::in_order(const Tensor& t) {
  const auto& o = opened(t, nullptr);
  return o.choice && o.choice->decoder && (o.choice->decoder->flags & TMETER_DECODER_IN_ORDER) != 0;
}

}  // namespace tmeter::core
