#include "plain_tensors.hpp"

#include <limits>

#include "json_util.hpp"

namespace pt2 {
namespace {

constexpr size_t kMostDims = 64;

/// {"as_int": 8}, not negative
bool size(PlainText& text, int64_t& out) {
  std::string_view kind;
  return text.take('{') && text.key(kind) && is(kind, "as_int") && text.integer(out) &&
         text.take('}') && out >= 0;
}

bool fits(const PlainMeta& meta) {
  return meta.dtype >= 0 && meta.dtype <= std::numeric_limits<int16_t>::max();
}

}  // namespace

template <class Member>
bool PlainTensors::read(std::string_view piece, Member&& member) {
  tensors.clear();
  numbers.clear();
  seen_.clear();
  PlainText text(piece);
  do {
    PlainTensor tensor;
    if (!text.key(tensor.name)) return false;
    tensor.hash = NameMap<bool>::short_hash(tensor.name);
    if (!seen_.insert(tensor.name, tensor.hash, true).second || !member(text, tensor)) return false;
    tensors.push_back(tensor);
  } while (text.take(','));
  return text.is_done();
}

bool PlainTensors::read_metas(std::string_view piece) {
  return read(piece, [this](PlainText& text, PlainTensor& t) { return meta(text, t.meta); });
}

bool PlainTensors::read_payloads(std::string_view piece) {
  return read(piece, [this](PlainText& text, PlainTensor& t) { return payload(text, t); });
}

bool PlainTensors::sizes(PlainText& text, size_t& count) {
  const auto before = numbers.size();
  const bool read = text.list([&] { return size(text, numbers.emplace_back()); });
  count = numbers.size() - before;
  return read && count <= kMostDims;
}

bool PlainTensors::meta(PlainText& text, PlainMeta& meta) {
  const char* const begin = text.at();
  const auto before = numbers.size();
  if (usual_meta(text, meta)) return true;
  text.go_to(begin);
  numbers.resize(before);
  return any_meta(text, meta);
}

/// To the letter, as Python's json writes it: there are more of these than of anything else.
bool PlainTensors::usual_meta(PlainText& text, PlainMeta& meta) {
  size_t strides = 0;
  std::string_view device;
  if (!text.exactly("{\"dtype\": ") || !text.digits(meta.dtype)) return false;
  meta.first = numbers.size();
  if (!text.exactly(", \"sizes\": [") || !usual_sizes(text, meta.rank)) return false;
  meta.requires_grad = text.exactly(", \"requires_grad\": true");
  if (!meta.requires_grad && !text.exactly(", \"requires_grad\": false")) return false;
  if (!text.exactly(", \"device\": {\"type\": ") || !text.text(device) ||
      !text.exactly(", \"index\": null}, \"strides\": [") || !usual_sizes(text, strides))
    return false;
  int64_t layout = 0;
  return text.exactly(", \"storage_offset\": {\"as_int\": ") && text.digits(meta.storage_offset) &&
         text.exactly("}, \"layout\": ") && text.digits(layout) && text.take('}') &&
         strides == meta.rank && fits(meta);
}

bool PlainTensors::usual_sizes(PlainText& text, size_t& count) {
  const auto before = numbers.size();
  if (!text.exactly("]")) {
    do {
      if (!text.exactly("{\"as_int\": ") || !text.digits(numbers.emplace_back()) ||
          !text.exactly("}"))
        return false;
    } while (text.exactly(", "));
    if (!text.exactly("]")) return false;
  }
  count = numbers.size() - before;
  return count <= kMostDims;
}

/// All that torch writes, in its order.
bool PlainTensors::any_meta(PlainText& text, PlainMeta& meta) {
  int found = 0;
  size_t strides = 0;
  const auto member = [&](std::string_view key) {
    switch (found++) {
      case 0:
        return is(key, "dtype") && text.integer(meta.dtype);
      case 1:
        meta.first = numbers.size();
        return is(key, "sizes") && sizes(text, meta.rank);
      case 2:
        return is(key, "requires_grad") && text.boolean(meta.requires_grad);
      case 3:
        return is(key, "device") && text.skip();
      case 4:
        return is(key, "strides") && sizes(text, strides);
      case 5:
        return is(key, "storage_offset") && size(text, meta.storage_offset);
      default:
        return found == 7 && is(key, "layout") && text.skip();
    }
  };
  return text.object(member) && found == 7 && strides == meta.rank && fits(meta);
}

bool PlainTensors::payload(PlainText& text, PlainTensor& tensor) {
  constexpr unsigned kRecord = 1, kPickle = 2, kMeta = 4, kIsParameter = 8;
  unsigned found = 0;
  bool ignored = false;
  const auto once = [&](unsigned bit) {
    const bool first = (found & bit) == 0;
    found |= bit;
    return first;
  };
  const auto member = [&](std::string_view key) {
    if (is(key, "path_name")) return once(kRecord) && text.text(tensor.record);
    if (is(key, "use_pickle")) return once(kPickle) && text.boolean(tensor.is_pickled);
    if (is(key, "tensor_meta")) return once(kMeta) && meta(text, tensor.meta);
    return is(key, "is_param") && once(kIsParameter) && text.boolean(ignored);
  };
  return text.object(member) && (found & kRecord) != 0 && (found & kMeta) != 0;
}

}  // namespace pt2
