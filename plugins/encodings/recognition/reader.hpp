// The tools of recognition: tensors by name, tensors already taken, and the arithmetic of shapes.
#pragma once
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "bad_file.hpp"
#include "recognise.hpp"

namespace packed {

inline constexpr int64_t kWord = 32;  // bits of the words that integers are packed into

/// The product; nothing: more than 63 bits.
std::optional<int64_t> product(int64_t a, int64_t b);
/// a·b/c where that is a whole number.
std::optional<int64_t> share(int64_t a, int64_t b, int64_t c);
int64_t ceil_div(int64_t a, int64_t b);
int64_t numel(const Stored& t);
bool is_float8(int32_t dtype);
bool is_float(int32_t dtype);  // one by one, of 16 bits or more
/// A parameter of an encoding: "bits=4".
std::string number(const char* key, int64_t value);
/// Whether all dims except the last are equal.
bool same_rows(const Stored& a, const Stored& b);

class Reader {
 public:
  Reader(const std::vector<Stored>& stored, const Config& config, const Metadata& metadata)
      : config_(config), metadata_(metadata) {
    for (const auto& t : stored) by_name_.emplace(t.name, &t);
  }

  const Config& config() const { return config_; }
  /// The value of this key in the files' metadata; empty if it is absent.
  std::string_view metadata(std::string_view key) const {
    const auto it = metadata_.find(key);
    return it == metadata_.end() ? std::string_view() : it->second;
  }
  /// Null when it is absent, or part of a weight already.
  const Stored* find(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() || is_taken(*it->second) ? nullptr : it->second;
  }
  /// Finds parts of a weight, too; null if there is no tensor of this name.
  const Stored* find_any(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }
  bool is_taken(const Stored& t) const { return taken_.contains(&t); }
  /// Adds a weight; no other weight gets its tensors. If another tensor has the weight's name, the
  /// weight gets the name of its values.
  void add(Packed weight) {
    taken_.insert(weight.values);
    for (const auto& p : weight.parts) taken_.insert(p.stored);
    if (find(weight.name) || !names_.insert(weight.name).second) weight.name = weight.values->name;
    out_.packed.push_back(std::move(weight));
  }
  /// Notes a tensor of unknown form. The warning states `why` for the first one.
  void note_unknown_form(const Stored& t, std::string why) {
    if (unknown_form_.empty()) unknown_form_reason_ = std::move(why);
    unknown_form_.insert(&t);
  }
  bool has_unknown_form(const Stored& t) const { return unknown_form_.contains(&t); }
  const std::string& unknown_form_reason() const { return unknown_form_reason_; }
  std::vector<Packed>& packed() { return out_.packed; }
  void note(std::string text) { out_.notes.push_back(std::move(text)); }
  [[noreturn]] void contradict(const std::string& key, const Stored& t,
                               const std::string& why) const {
    throw loading::BadFile("config.json and the weights contradict each other: " + key +
                               ", and tensor " + loading::in_quotes(t.name) + " " + why,
                           "use the config.json that belongs to these weights");
  }
  Recognised take(const std::vector<Stored>& stored) {
    for (const auto& t : stored)
      if (!is_taken(t)) out_.plain.push_back(&t);
    return std::move(out_);
  }

 private:
  const Config& config_;
  const Metadata& metadata_;
  std::unordered_map<std::string_view, const Stored*> by_name_;
  std::unordered_set<const Stored*> taken_, unknown_form_;
  std::string unknown_form_reason_;
  std::unordered_set<std::string> names_;  // names of weights
  Recognised out_;
};

// One function per method of packing: true if `t` is a tensor of packed elements, which is then
// added.
bool integers_in_words(Reader& r, const Stored& t);  // GPTQ, AWQ: words.cpp
bool compressed_words(Reader& r, const Stored& t);   // compressed-tensors, pack-quantized
bool bitsandbytes(Reader& r, const Stored& t);       // 4 and 8 bit: bitsandbytes.cpp
bool mlx(Reader& r, const Stored& t);                // mlx.cpp
bool float4_blocks(Reader& r, const Stored& t);      // MXFP4, NVFP4: scaled.cpp
bool scaled_bytes(Reader& r, const Stored& t);       // fp8 and int8 with scales
bool int4_rows(Reader& r, const Stored& t);          // modelopt: two rows in a byte
bool torchao(Reader& r, const Stored& t);            // torchao.cpp
bool planes(Reader& r, const Stored& t);             // HQQ, optimum-quanto: planes.cpp
bool small_floats(Reader& r, const Stored& t);       // only F6

/// The parameters "rows=… columns=…" of scales that cover the weight as a grid; empty for a single
/// scale and for other layouts.
std::string grid_parameters(const Reader& r, const Stored& t, const Stored& scales);

/// Whether the rows of a weight of this name are as wide as the vectors that norms scale.
bool is_of_hidden_size(std::string_view name);
/// The sizes of norms.
std::set<int64_t> hidden_sizes(const std::vector<Stored>& stored);

/// MLX: bits and groups of layers without a configuration, from tensors whose width follows from
/// others.
void add_rest_of_mlx(Reader& r, const std::vector<Stored>& stored);
/// optimum-quanto: the rows of weights that are stored as rows of groups.
void correct_quanto_widths(Reader& r, const std::vector<Stored>& stored);

}  // namespace packed
