// Tensor subclasses (torchao's): an archive holds each as a file of `torch.save`, a ZIP of a pickle
// and the bytes of the inner tensors. The pickle is not read: its class names the encoding, the
// ZIP's directory has the bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace pt2 {

struct Subclass {
  const char* encoding;  // "torchao.int8"; "torch.subclass" for classes that are not known
  int64_t bytes = 0;     // bytes of all inner tensors; 0: unknown
};

/// The subclass in a record; an empty or damaged record has no bytes.
Subclass subclass_in(std::string_view record);

}  // namespace pt2
