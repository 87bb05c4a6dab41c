// torchao's tensor subclasses, flattened (prototype/safetensors/safetensors_support.py of 0.18):
// "fc.weight" is stored as "fc._weight_qdata", "fc._weight_scale" and others, and the metadata of
// the file name its class:
//
//   "fc.weight": {"_type": "Int4Tensor", "_data": {"block_size": [1, 32], "shape": [32, 64]}, …}
//
// Without metadata, the first class whose shapes fit is chosen.
#include <algorithm>
#include <array>

#include "json_text.hpp"
#include "reader.hpp"

namespace packed {
namespace {

namespace json = loading::json;

constexpr std::string_view kData = "_qdata";

/// The layout of the scales of a weight [N, K]. Dims before these two are the same in all parts.
enum class Form {
  kAny,       // over the data as a grid
  kMoved,     // in another order ("is_swizzled_scales"): counted, but not decoded
  kRows,      // [N, K / group]
  kAcross,    // [K / group, N], and as many zeros
  kShuffled,  // [K / group, N] or [K / group / 8, 8, N]
  kPairs,     // [K / group, N, 2], with zeros
  kTiles      // the same; the data are in tiles [N / 8, K / 128, 32, 4], padded
};

struct Class {
  std::string_view type;     // "_type" in the metadata
  std::string_view numbers;  // start of "elem_dtype", if the class has several forms
  int32_t data;              // TMETER_DTYPE_… of its elements; FLOAT8_E4M3FN: any float8
  int64_t per_item;          // numbers in an element of the data, along K
  std::string_view scales;   // the end of their name
  int32_t scale_type;        // UNDEFINED: any
  int64_t group;             // numbers for a scale; 0: any
  Form form;
  const char* encoding;
  int64_t block_elements, block_bytes;
};

constexpr auto kInt8 = TMETER_DTYPE_INT8, kUint8 = TMETER_DTYPE_UINT8, kInt32 = TMETER_DTYPE_INT32,
               kFloat8 = TMETER_DTYPE_FLOAT8_E4M3FN, kPower = TMETER_DTYPE_FLOAT8_E8M0FNU,
               kAnyType = TMETER_DTYPE_UNDEFINED;

// A class has a row for each of its forms.
constexpr std::array<Class, 16> kClasses{{
    {"Int4PreshuffledTensor", "", kInt8, 2, "_group_scale", kAnyType, 0, Form::kShuffled,
     "torchao.int4", 2, 1},
    {"Int4TilePackedTo4dTensor", "", kInt32, 8, "_scale_and_zero", kAnyType, 0, Form::kTiles,
     "torchao.int4", 8, 4},
    {"Int4OpaqueTensor", "", kUint8, 2, "_scale_and_zero", kAnyType, 0, Form::kPairs,
     "torchao.int4", 2, 1},
    {"Int4PlainInt32Tensor", "", kInt32, 8, "_scale", kAnyType, 0, Form::kAcross, "torchao.int4", 8,
     4},
    {"Int4Tensor", "", kInt8, 2, "_scale", kAnyType, 0, Form::kAcross, "torchao.int4", 2, 1},
    {"Int8Tensor", "", kInt8, 1, "_scale", kAnyType, 0, Form::kAny, "torchao.int8", 1, 1},
    {"IntxUnpackedToInt8Tensor", "", kInt8, 1, "_scale", kAnyType, 0, Form::kAny, "torchao.int8", 1,
     1},
    {"MXTensor", "float8", kFloat8, 1, "_scale", kPower, 32, Form::kRows, "mxfp8", 1, 1},
    {"MXTensor", "float4", kUint8, 2, "_scale", kPower, 32, Form::kRows, "mxfp4", 32, 16},
    {"MXTensor", "fp6", kUint8, 1, "_scale", kPower, 32, Form::kRows, "torchao.float6", 1, 1},
    {"NVFP4Tensor", "", kUint8, 2, "_scale", kFloat8, 16, Form::kRows, "nvfp4", 16, 8},
    {"MXTensor", "float8", kFloat8, 1, "_scale", kPower, 0, Form::kMoved, "torchao.mxfp8", 1, 1},
    {"MXTensor", "float4", kUint8, 2, "_scale", kPower, 0, Form::kMoved, "torchao.float4", 2, 1},
    {"MXTensor", "fp6", kUint8, 1, "_scale", kPower, 0, Form::kMoved, "torchao.float6", 1, 1},
    {"NVFP4Tensor", "", kUint8, 2, "_scale", kFloat8, 0, Form::kMoved, "torchao.float4", 2, 1},
    {"Float8Tensor", "", kFloat8, 1, "_scale", kAnyType, 0, Form::kAny, "torchao.float8", 1, 1},
}};

/// The entry of a weight in the file's metadata.
struct MetadataEntry {
  std::string type, numbers;
  std::vector<int64_t> dims;  // empty: the dims of the data
};

/// The text of {"_type": "torch.dtype", "_data": "float8_e4m3fn"}, or of a plain text.
std::string text_of(json::element e) {
  if (json::object o; e.get(o) == simdjson::SUCCESS)
    return std::string(loading::text_member(o, "_data"));
  return std::string(loading::as_text(e));
}

/// nullopt if the entry is missing or belongs to another library.
std::optional<MetadataEntry> parse_entry(std::string_view text) {
  if (!text.starts_with('{')) return std::nullopt;
  try {
    json::document document;
    const auto error = loading::parse_json(text, false, document);
    const auto root = loading::as_object(loading::require_json(error, document));
    MetadataEntry entry{std::string(loading::text_member(root, "_type")), {}, {}};
    const auto data = loading::find_set(root, "_data");
    json::object o;
    if (!data || data->get(o) != simdjson::SUCCESS) return entry;
    if (const auto e = loading::find_set(o, "elem_dtype")) entry.numbers = text_of(*e);
    if (const auto dims = loading::find_set(o, "shape"))
      for (const auto d : loading::as_array(*dims)) entry.dims.push_back(loading::as_integer(d));
    return entry;
  } catch (const loading::BadFile&) {
    return std::nullopt;
  }
}

/// "fc._weight" and "fc.weight" of "fc._weight_qdata"; empty for other names.
std::optional<std::pair<std::string, std::string>> names_of(const Stored& t) {
  if (!t.name.ends_with(kData)) return std::nullopt;
  const auto stem = t.name.substr(0, t.name.size() - kData.size());
  const auto dot = stem.rfind('.');
  if (dot == stem.npos || stem.size() < dot + 3 || stem[dot + 1] != '_') return std::nullopt;
  return std::pair(std::string(stem),
                   std::string(stem.substr(0, dot + 1)) + std::string(stem.substr(dot + 2)));
}

bool has_type(const Stored& t, int32_t type) {
  return type == kAnyType || t.dtype == type ||
         (type == kFloat8 && is_float8(t.dtype) && t.dtype != TMETER_DTYPE_FLOAT8_E8M0FNU);
}

/// Whether `scales` end with the dims `last`, and begin as those of the data.
bool have_dims(const Stored& scales, const Stored& t, std::initializer_list<int64_t> last) {
  const auto before = t.dims.size() - 2;
  return scales.dims.size() == before + last.size() &&
         std::equal(t.dims.begin(), t.dims.end() - 2, scales.dims.begin()) &&
         std::equal(last.begin(), last.end(),
                    scales.dims.end() - static_cast<int64_t>(last.size()));
}

/// [N, K] of tiles, padded, from the rows of scales [K / group, N, 2].
std::optional<std::vector<int64_t>> dims_of_tiles(const Stored& t, const Stored& scales) {
  const auto rank = t.dims.size();
  if (rank < 4 || scales.dims.size() != rank - 1 || scales.dims.back() != 2) return std::nullopt;
  std::vector<int64_t> dims(t.dims.begin(), t.dims.end() - 4);
  if (!std::equal(dims.begin(), dims.end(), scales.dims.begin())) return std::nullopt;
  Stored tiles = t;
  tiles.dims.erase(tiles.dims.begin(), tiles.dims.end() - 4);
  const auto groups = scales.dims[rank - 4], rows = scales.dims[rank - 3];
  const auto columns = share(numel(tiles), 8, rows);
  if (!columns || groups < 1 || *columns % groups != 0) return std::nullopt;
  dims.insert(dims.end(), {rows, *columns});
  return dims;
}

/// The dims of the weight, if types and shapes match the class.
std::optional<std::vector<int64_t>> dims_in(const Class& c, const Stored& t, const Stored& scales,
                                            const Stored* zeros) {
  if (!has_type(t, c.data) || !has_type(scales, c.scale_type)) return std::nullopt;
  if (c.form == Form::kTiles) return dims_of_tiles(t, scales);
  auto dims = t.dims;
  if (c.form == Form::kAny) return dims;
  if (dims.size() < 2) return std::nullopt;
  const auto width = product(dims.back(), c.per_item);
  if (!width) return std::nullopt;
  dims.back() = *width;
  const auto rows = dims[dims.size() - 2];
  const auto over = scales.dims.size() < dims.size() ? 0 : scales.dims[dims.size() - 2];
  const bool divides = over > 0 && *width % over == 0;
  const bool float_zeros = zeros && (is_float(zeros->dtype) || c.data != kInt8);
  bool fits = true;
  if (c.form == Form::kRows)
    fits = same_rows(t, scales) && product(scales.dims.back(), c.group) == width;
  else if (c.form == Form::kAcross)
    fits =
        divides && have_dims(scales, t, {over, rows}) && float_zeros && zeros->dims == scales.dims;
  else if (c.form == Form::kShuffled)
    fits = !scales.dims.empty() && scales.dims.back() == rows;
  else if (c.form == Form::kPairs)
    fits = divides && have_dims(scales, t, {over, rows, 2});
  if (!fits) return std::nullopt;
  return dims;
}

/// Dims in the metadata must be those of the data without the padding of tiles.
bool agree(const std::vector<int64_t>& stated, const std::vector<int64_t>& found, const Class& c) {
  return stated.empty() || stated == found ||
         (c.form == Form::kTiles && stated.size() == found.size() &&
          std::equal(stated.begin(), stated.end(), found.begin(),
                     [](int64_t a, int64_t b) { return a > 0 && a <= b; }));
}

/// Sets encoding and dims by the first class that fits. With `entry` only that class may.
bool describe(Reader& r, const Stored& t, const std::string& stem,
              const std::optional<MetadataEntry>& entry, Packed& p) {
  const auto* zeros = r.find(stem + "_zero_point");
  for (const auto& c : kClasses) {
    if (entry && (entry->type != c.type || !entry->numbers.starts_with(c.numbers))) continue;
    const auto* scales = r.find(stem + std::string(c.scales));
    const auto dims = scales ? dims_in(c, t, *scales, zeros) : std::nullopt;
    if (!dims || (entry && !agree(entry->dims, *dims, c))) continue;
    p.dims = entry && !entry->dims.empty() ? entry->dims : *dims;
    p.encoding = c.encoding, p.block_elements = c.block_elements, p.block_bytes = c.block_bytes;
    if (p.dims != *dims) p.block_elements = p.block_bytes = 0;  // some blocks are padding
    p.parts.push_back({"scales", scales});
    if (c.per_item == 1 && c.form != Form::kMoved) p.parameters = grid_parameters(r, t, *scales);
    if (!entry && c.form == Form::kAcross && c.data == kInt8 && same_rows(t, *scales) &&
        t.dims.back() % scales->dims.back() == 0)
      r.note(p.name + " of torchao has as many scales in a row as rows: counted as Int4Tensor, " +
             "two numbers in a byte; an IntxUnpackedToInt8Tensor of these shapes has half of them");
    return true;
  }
  return false;
}

bool is_known(std::string_view type) {
  return std::any_of(kClasses.begin(), kClasses.end(), [&](auto& c) { return c.type == type; });
}

}  // namespace

bool torchao(Reader& r, const Stored& t) {
  const auto names = names_of(t);
  if (!names) return false;
  const auto entry = parse_entry(r.metadata(names->second));
  Packed p{names->second, {}, &t, "", "", 0, 0, {}};
  if (!describe(r, t, names->first, entry, p)) {
    if (entry)
      r.note_unknown_form(
          t,
          "the file declares it as torchao's " + loading::in_quotes(entry->type) +
              (is_known(entry->type) ? ", which has other shapes" : ", a class unknown to tmeter"));
    return false;
  }
  constexpr std::array<std::pair<const char*, const char*>, 9> kMore{
      {{"_zero_point", "zeros"},
       {"_group_zero", "zeros"},
       {"_row_scale", "row_scales"},
       {"_per_tensor_scale", "global_scale"},
       {"_act_per_tensor_scale", "input_scale"},
       {"_act_pre_scale", "input_factor"},
       {"_act_scale", "input_scales"},
       {"_act_quant_scale", "input_scales"},
       {"_act_quant_zero_point", "input_zeros"}}};
  const auto is_new = [&](std::string_view role) {
    return std::none_of(p.parts.begin(), p.parts.end(),
                        [&](const Part& x) { return x.role == role; });
  };
  for (const auto& [end, role] : kMore)
    if (const auto* more = r.find(names->first + end); more && is_new(role))
      p.parts.push_back({role, more});
  r.add(std::move(p));
  return true;
}

}  // namespace packed
