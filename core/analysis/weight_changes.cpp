#include "core/analysis/weight_changes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <tmeter/cpp/numbers.hpp>

#include "core/base/error.hpp"
#include "core/base/interrupt.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

constexpr int64_t kChunk = 64 << 10;  // elements
constexpr size_t kNamed = 5;          // tensors
// Thousands of tensors may be windows of one storage: a small file would be read for hours.
constexpr uint64_t kMaxReadsOfAByte = 8, kAlwaysComparedBytes = 64 << 20;

/// The type of the elements that TensorBytes gives, which decodes encoded tensors.
DType type_of(const Tensor& t) { return DType(t.encoding ? TMETER_DTYPE_FLOAT32 : t.dtype); }

std::span<const uint8_t> octets(std::string_view bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

/// Adds the elements of a chunk.
void add(std::span<const double> before, std::span<const double> after, WeightChange& change) {
  for (size_t i = 0; i < before.size(); ++i) {
    const double a = before[i], b = after[i];
    change.nan_before += !std::isfinite(a);
    change.nan_after += !std::isfinite(b);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      change.differing += !(a == b || (std::isnan(a) && std::isnan(b)));
      continue;
    }
    const double d = b - a;
    change.differing += d != 0;
    change.largest = std::max(change.largest, std::abs(d));
    change.signal += a * a;
    change.noise += d * d;
  }
}

class Comparer {
 public:
  Comparer(const ReadableWeights& before, const ReadableWeights& after)
      : before_graph_(before.graph),
        after_graph_(after.graph),
        before_(before.bytes),
        after_(after.bytes) {}

  void compare(const Tensor& a, const Tensor& b, WeightChanges& out) {
    if (auto why = unavailable(a, b); !why.empty()) {
      out.unread.emplace_back(&b, std::move(why));
      return;
    }
    auto change = changes_of(a, b);
    if (change.differing > 0) {
      const auto by_rows = changes_by_rows(a, b);
      if (by_rows && by_rows->noise < change.noise) change = *by_rows;
    }
    if (change.differing > 0)
      out.changed.push_back(change);
    else
      ++out.equal;
  }

 private:
  std::string unavailable(const Tensor& a, const Tensor& b) {
    for (const auto& [t, bytes] : {std::pair(&a, &before_), std::pair(&b, &after_)}) {
      if (const auto why = bytes->unavailable(*t); !why.empty()) return std::string(why);
      auto& read = read_[{bytes, t->file}];
      const auto size = static_cast<uint64_t>(std::max<int64_t>(stored_bytes(*t), 0));
      if (t->numel > 0 &&
          read + size > kMaxReadsOfAByte * bytes->file_size(*t) + kAlwaysComparedBytes)
        return "overlapping tensors are read up to eight times the size of the file, and it "
               "exceeds that";
      read += size;
    }
    const bool same_type = type_of(a).id() == type_of(b).id();
    for (const auto* t : {&a, &b})
      if (const auto why = undecodable(type_of(*t)); !same_type && !why.empty())
        return std::string(type_of(*t).name()) + ": " + std::string(why);
    return {};
  }

  WeightChange changes_of(const Tensor& a, const Tensor& b) {
    WeightChange out{.before = &a, .after = &b};
    const bool same_type = type_of(a).id() == type_of(b).id();
    const bool decodable = undecodable(type_of(a)).empty() && undecodable(type_of(b)).empty();
    for (int64_t first = 0; first < a.numel; first += kChunk) {
      if (Interrupt::requested()) throw Error(ErrorKind::kInterrupted, "interrupted");
      const int64_t count = std::min(kChunk, a.numel - first);
      const auto was = before_.view(a, first, count, before_buffer_);
      const auto is = after_.view(b, first, count, after_buffer_);
      const bool same_bits = same_type && was == is;
      if (decodable)
        add_numbers(a, b, was, is, static_cast<size_t>(count), same_bits, out);
      else if (!same_bits)
        out.differing += count;  // an upper bound: these bits cannot be compared as numbers
      before_.release(a, first, count);
      after_.release(b, first, count);
    }
    return out;
  }

  /// Empty if both have the same order of rows, or if elements cannot be decoded.
  std::optional<WeightChange> changes_by_rows(const Tensor& a, const Tensor& b) {
    const auto order_a = row_order(before_graph_, a), order_b = row_order(after_graph_, b);
    const bool decodable = undecodable(type_of(a)).empty() && undecodable(type_of(b)).empty();
    if (order_a.has_value() == order_b.has_value() || !decodable || a.numel == 0)
      return std::nullopt;
    WeightChange out{.before = &a, .after = &b};
    const int64_t row = a.numel / a.dims[0];
    for (int64_t i = 0; i < a.dims[0]; ++i) {
      if (Interrupt::requested()) throw Error(ErrorKind::kInterrupted, "interrupted");
      const auto was =
          before_.view(a, order_a.value_or(RowOrder{}).of(i) * row, row, before_buffer_);
      const auto is = after_.view(b, order_b.value_or(RowOrder{}).of(i) * row, row, after_buffer_);
      add_numbers(a, b, was, is, static_cast<size_t>(row), false, out);
    }
    return out;
  }

  void add_numbers(const Tensor& a, const Tensor& b, std::string_view was, std::string_view is,
                   size_t count, bool same_bits, WeightChange& out) {
    numbers_before_.resize(count);
    decode<double>(type_of(a), octets(was), std::span(numbers_before_));
    if (same_bits) return add(numbers_before_, numbers_before_, out);
    numbers_after_.resize(count);
    decode<double>(type_of(b), octets(is), std::span(numbers_after_));
    add(numbers_before_, numbers_after_, out);
  }

  const Graph &before_graph_, &after_graph_;
  const TensorBytes &before_, &after_;
  ElementBuffer before_buffer_, after_buffer_;
  std::vector<double> numbers_before_, numbers_after_;
  std::map<std::pair<const TensorBytes*, const MappedFile*>, uint64_t> read_;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string count_text(size_t n, const char* one, const char* many) {
  return std::to_string(n) + (n == 1 ? one : many);
}

/// "conv1.weight: 12 of 9408 elements differ, by at most 0.25, SQNR 34.2 dB, NaN or infinite 0 →
/// 3".
std::string line_of(const WeightChange& c) {
  std::string text = "weights: " + printable(std::string(c.after->name)) + ": " +
                     std::to_string(c.differing) + " of " + std::to_string(c.after->numel) +
                     (c.after->numel == 1 ? " element differs" : " elements differ");
  if (c.largest > 0) text += ", by at most " + number(c.largest);
  if (c.noise > 0 && c.signal > 0) text += ", SQNR " + number(c.sqnr()) + " dB";
  if (c.nan_before || c.nan_after)
    text += ", NaN or infinite: " + std::to_string(c.nan_before) + " before, " +
            std::to_string(c.nan_after) + " after";
  return text;
}

/// New NaN values are worse than any noise.
double severity(const WeightChange& c) {
  if (c.nan_after > c.nan_before) return std::numeric_limits<double>::infinity();
  return c.signal > 0 ? c.noise / c.signal : c.noise;
}

}  // namespace

double WeightChange::sqnr() const {
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

WeightChanges compare_weights(const TensorPairs& pairs, const ReadableWeights& before,
                              const ReadableWeights& after) {
  WeightChanges out;
  Comparer comparer(before, after);
  for (const auto& [a, b] : pairs) comparer.compare(*a, *b, out);
  std::stable_sort(out.changed.begin(), out.changed.end(),
                   [](const auto& x, const auto& y) { return severity(x) > severity(y); });
  return out;
}

std::vector<std::string> describe(const WeightChanges& changes) {
  std::vector<std::string> out;
  const auto differ = changes.changed.size();
  if (differ == 0 && changes.equal > 0)
    out.push_back("weights: " + count_text(changes.equal, " tensor has", " tensors have") +
                  " equal values");
  if (differ > 0)
    out.push_back("weights: the values of " +
                  count_text(differ, " tensor differ", " tensors differ") + ", those of " +
                  std::to_string(changes.equal) + " are equal");
  for (size_t i = 0; i < std::min(differ, kNamed); ++i) out.push_back(line_of(changes.changed[i]));
  if (differ > kNamed)
    out.push_back("weights: " +
                  count_text(differ - kNamed, " more tensor differs", " more tensors differ"));
  if (!changes.unread.empty())
    out.push_back("weights: the values of " +
                  count_text(changes.unread.size(), " tensor are", " tensors are") +
                  " not compared: " + printable(std::string(changes.unread[0].first->name)) + ": " +
                  changes.unread[0].second);
  return out;
}

namespace {

using ByName = std::map<std::string_view, const Tensor*>;

/// "weights: 7 tensors are only in the model before: a, b, c, d, e, …"; nothing without any.
void add_names(const char* one, const char* many, const std::vector<std::string>& names,
               std::vector<std::string>& out) {
  if (names.empty()) return;
  std::string text = "weights: " + count_text(names.size(), one, many) + ": ";
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  out.push_back(text + (names.size() > kNamed ? ", …" : ""));
}

}  // namespace

std::vector<std::string> describe_unpaired(const Graph& before, const Graph& after,
                                           const TensorPairs& pairs) {
  const auto unpaired = [&](const Graph& graph, auto&& side) {
    ByName out;
    for (const auto& t : graph.tensors())
      if (t.canonical == &t) out.emplace(t.name, &t);
    for (const auto& p : pairs) out.erase(side(p)->name);
    return out;
  };
  const auto old = unpaired(before, [](const auto& p) { return p.first; });
  const auto fresh = unpaired(after, [](const auto& p) { return p.second; });
  std::vector<std::string> shapes, gone, added, out;
  for (const auto& [name, t] : old) {
    const auto it = fresh.find(name);
    const auto text = printable(std::string(name));
    if (it == fresh.end())
      gone.push_back(text);
    else
      shapes.push_back(text + " " + shape_text(t->dims) + " → " + shape_text(it->second->dims));
  }
  for (const auto& [name, t] : fresh)
    if (!old.contains(name)) added.push_back(printable(std::string(name)));
  add_names(" tensor has another shape", " tensors have another shape", shapes, out);
  add_names(" tensor is only in the model before", " tensors are only in the model before", gone,
            out);
  add_names(" tensor is only in the model after", " tensors are only in the model after", added,
            out);
  return out;
}

}  // namespace tmeter::core
