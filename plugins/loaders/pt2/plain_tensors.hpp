// What torch writes of tensors – type, sizes, strides, place –, read from the text of a piece of a
// table.
#pragma once
#include <vector>

#include "name_map.hpp"
#include "plain_text.hpp"

namespace pt2 {

/// A TensorMeta whose sizes are plain numbers. In `PlainTensors::numbers` from `first` on: `rank`
/// sizes, `rank` strides.
struct PlainMeta {
  int64_t dtype = 0, storage_offset = 0;
  size_t first = 0, rank = 0;
  bool requires_grad = false;
};

struct PlainTensor {
  std::string_view name;  // its key in the table
  uint32_t hash = 0;      // of it, as NameMap has it
  PlainMeta meta;
  std::string_view record;  // of weights and constants: the path_name
  bool is_pickled = false;
};

class PlainTensors {
 public:
  /// The members between the commas of a table of TensorMeta; 64 bytes behind the text are
  /// readable. False when the piece has to be read as a document.
  bool read_metas(std::string_view piece);
  /// The same of a table of weights or constants.
  bool read_payloads(std::string_view piece);

  std::vector<PlainTensor> tensors;
  std::vector<int64_t> numbers;

 private:
  template <class Member>
  bool read(std::string_view piece, Member&& member);
  bool meta(PlainText& text, PlainMeta& meta);
  bool usual_meta(PlainText& text, PlainMeta& meta);
  bool any_meta(PlainText& text, PlainMeta& meta);
  bool usual_sizes(PlainText& text, size_t& count);
  bool payload(PlainText& text, PlainTensor& tensor);
  bool sizes(PlainText& text, size_t& count);

  NameMap<bool> seen_;
};

}  // namespace pt2
