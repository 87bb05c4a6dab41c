#include "config.hpp"

#include "json_text.hpp"
#include "patterns.hpp"

namespace packed {
namespace {

namespace json = loading::json;
using loading::find_set;

constexpr size_t kMaxConfigBytes = 16 << 20;

std::optional<int64_t> integer(json::object o, const char* key) {
  const auto value = find_set(o, std::string_view(key));
  if (!value) return std::nullopt;
  return loading::within([&] { return "quantization_config, " + loading::in_quotes(key); },
                         [&] { return loading::as_integer(*value); });
}

std::string text(json::object o, const char* key) {
  const auto value = find_set(o, std::string_view(key));
  std::string_view out;
  return value && value->get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
}

Grouping grouping(json::object o, const char* bits, const char* group) {
  Grouping g{integer(o, bits), integer(o, group), text(o, "mode")};
  if (g.bits && (*g.bits < 1 || *g.bits > 32))
    throw loading::BadFile("quantization_config has an impossible number of bits, " +
                           std::to_string(*g.bits));
  if (g.group && (*g.group == 0 || *g.group < -1))
    throw loading::BadFile("quantization_config has an impossible size of groups, " +
                           std::to_string(*g.group));
  return g;
}

std::optional<json::object> object(json::object o, std::string_view key) {
  const auto value = find_set(o, key);
  json::object out;
  if (!value || value->get(out) != simdjson::SUCCESS) return std::nullopt;
  return out;
}

/// Notes the first malformed pattern. GPTQModel's begin with "+:" or "-:", others with "re:".
void check_pattern(const char* key, std::string_view text, Config& c) {
  if (!c.note.empty() ||
      !(text.starts_with("re:") || text.starts_with("+:") || text.starts_with("-:")))
    return;
  const auto fault = pattern_error(text.substr(text.find(':') + 1));
  if (fault.empty()) return;
  c.note = "quantization_config, " + loading::in_quotes(key) + ": " + loading::in_quotes(text) +
           " is not a regular expression (" + std::string(fault) +
           "); the shapes of the weights decide which are packed";
}

void check_patterns(json::object o, const char* key, Config& c) {
  const auto value = find_set(o, std::string_view(key));
  json::array list;
  json::object by_pattern;
  if (value && value->get(list) == simdjson::SUCCESS)
    for (const auto item : list)
      if (item.is_string()) check_pattern(key, loading::as_text(item), c);
  if (value && value->get(by_pattern) == simdjson::SUCCESS)
    for (const auto field : by_pattern) check_pattern(key, field.key, c);
}

/// Rows and columns that share a scale: "weight_block_size" of fp8, "block_structure" of
/// compressed-tensors.
void read_block(json::object o, const char* key, Config& c) {
  const auto value = find_set(o, std::string_view(key));
  if (!value || !value->is_array()) return;
  c.block.clear();
  for (const auto n : loading::as_array(*value)) c.block.push_back(loading::as_integer(n));
  for (const auto n : c.block)
    if (n < 1)
      throw loading::BadFile(std::string(key) + " in quantization_config contains " +
                             std::to_string(n));
}

/// compressed-tensors: bits and group size of the weights, if all groups of layers agree.
void read_groups(json::object groups, Config& c) {
  bool first = true;
  for (const auto field : groups) {
    json::object group;
    if (field.value.get(group) != simdjson::SUCCESS) continue;
    const auto weights = object(group, "weights");
    if (!weights) continue;
    check_patterns(group, "targets", c);
    read_block(*weights, "block_structure", c);
    auto found = grouping(*weights, "num_bits", "group_size");
    c.varies |= !first && (found.bits != c.all.bits || found.group != c.all.group);
    c.all = c.varies ? Grouping() : found;
    first = false;
  }
}

void read_mlx(json::object o, Config& c) {
  c.method = "mlx";
  c.all = grouping(o, "bits", "group_size");
  for (const auto field : o) {
    json::object layer;
    if (field.value.get(layer) == simdjson::SUCCESS)
      c.layers[std::string(field.key)] = grouping(layer, "bits", "group_size");
  }
}

}  // namespace

Config parse_config(std::string_view bytes) {
  if (bytes.size() > kMaxConfigBytes) throw loading::BadFile("it is larger than 16 MiB");
  json::document document;
  const auto error = loading::parse_json(bytes, false, document);
  const auto root = loading::as_object(loading::require_json(error, document));
  Config c;
  auto section = object(root, "quantization_config");
  if (!section) section = object(root, "compression_config");
  if (const auto inner = object(root, "text_config"); !section && inner)
    section = object(*inner, "quantization_config");
  if (section) c.method = text(*section, "quant_method");
  const auto mlx = object(root, "quantization");
  if (c.method.empty() && (mlx || section)) {
    read_mlx(mlx ? *mlx : *section, c);
    c.given = true;
    return c;
  }
  if (!section) return c;
  c.given = true;
  for (const char* key : {"checkpoint_format", "format", "version"})
    if (c.format.empty()) c.format = text(*section, key);
  c.all = grouping(*section, "bits", "group_size");
  c.varies = object(*section, "dynamic") || object(*section, "extra_config");
  for (const char* key : {"ignore", "modules_to_not_convert", "dynamic"})
    check_patterns(*section, key, c);
  if (const auto groups = object(*section, "config_groups")) read_groups(*groups, c);
  read_block(*section, "weight_block_size", c);
  return c;
}

}  // namespace packed
