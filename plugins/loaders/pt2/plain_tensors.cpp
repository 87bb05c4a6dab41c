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

}  // namespace

template <class Member>
bool PlainTensors::read(std::string_view piece, Member&& member) {
  tensors.clear();
  numbers.clear();
  seen_.clear();
  PlainText text(piece);
  do {
    PlainTensor tensor;
    if (!text.key(tensor.name) || !seen_.insert(tensor.name, true).second || !member(text, tensor))
      return false;
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

/// All that torch writes, in its order.
bool PlainTensors::meta(PlainText& text, PlainMeta& meta) {
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
  return text.object(member) && found == 7 && strides == meta.rank && meta.dtype >= 0 &&
         meta.dtype <= std::numeric_limits<int16_t>::max();
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
