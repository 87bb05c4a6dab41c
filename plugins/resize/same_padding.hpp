// Distinguishes TensorFlow's "same" padding from fixed padding.
//
// Some networks compute padding from the size of the operand (timm's tf_*, Lukemelas' EfficientNet,
// Keras on PyTorch). An exported program then has plain numbers: pad(x, [0, 1, 0, 1]) before a 3×3
// convolution of stride 2 is right for 224 but wrong for 225, which needs [1, 1, 1, 1]. Other
// networks pad [0, 1, 0, 1] for every size (the downsampling of Stable Diffusion's autoencoder). At
// one recorded size both look the same. Other paddings by the same code usually decide. This file
// does not depend on LibTorch.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tmeter::resize {

/// One spatial dim of a convolution or pooling; `size` is that of the operand before padding.
struct WindowDim {
  int64_t size = 0, kernel = 1, stride = 1, dilation = 1;
};

struct Pad {
  int64_t before = 0, after = 0;
  bool operator==(const Pad&) const = default;
};

/// A recorded convolution or pooling with all padding of its operand.
struct PaddedWindow {
  std::string owner;  // class whose code pads: "timm.layers.conv2d_same.Conv2dSame"
  std::vector<WindowDim> dims;
  std::vector<Pad> pads;
  bool by_node = false;        // padded by a separate operator, not by an argument
  bool in_one_module = false;  // that operator belongs to the same module call
};

/// The padding of tf.nn.convolution(padding="SAME"), for ⌈size / stride⌉ results; an odd element
/// goes to the end.
Pad same_pad(const WindowDim& dim);
std::vector<Pad> same_pads(const std::vector<WindowDim>& dims);

enum class PaddingKind { kFixed, kSame };
struct PaddingEstimate {
  PaddingKind kind = PaddingKind::kFixed;
  bool sure = true;  // false: the other kind would fit too
};

/// Tells fixed from "same" paddings of a program by comparing them with each other.
class PaddingEvidence {
 public:
  void add(const PaddedWindow& window);
  /// The kind of a recorded padding. All windows of the program must have been added.
  PaddingEstimate estimate(const PaddedWindow& window) const;

 private:
  using Shape = std::vector<int64_t>;  // kernel, stride, dilation of each dim
  struct Owner {
    bool pads_otherwise = false;    // it has padding that is not "same"
    bool unpadded = false;          // a window without the padding that "same" needs
    bool varies_with_size = false;  // one shape of a window, several pads, all "same"
    std::map<Shape, std::vector<Pad>> padded, by_node;  // the first pads seen, by window
    bool varies_with_shape() const;
  };
  std::map<std::string, Owner> owners_;
};

}  // namespace tmeter::resize
