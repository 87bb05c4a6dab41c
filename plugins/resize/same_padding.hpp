// TensorFlow's "same" padding, and how to tell it from a fixed one.
//
// A network whose padding is computed from the size of its operand (timm's tf_*, Lukemelas'
// EfficientNet, Keras on PyTorch) leaves plain numbers in an exported program: pad(x, [0, 1, 0, 1])
// before a 3×3 convolution of stride 2 is right for 224 and wrong for 225, where it is
// [1, 1, 1, 1]. Another network pads [0, 1, 0, 1] whatever the size (the downsampling of Stable
// Diffusion's autoencoder). At one recorded size both look the same; what else the same code pads
// tells them apart, mostly. No LibTorch in here.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tmeter::resize {

/// One spatial dim of a convolution or pooling; `size` is the operand's before any padding.
struct WindowDim {
  int64_t size = 0, kernel = 1, stride = 1, dilation = 1;
};

struct Pad {
  int64_t before = 0, after = 0;
  bool operator==(const Pad&) const = default;
};

/// A convolution or pooling as recorded, and all that pads its operand.
struct PaddedWindow {
  std::string owner;  // class whose code pads: "timm.layers.conv2d_same.Conv2dSame"
  std::vector<WindowDim> dims;
  std::vector<Pad> pads;
  bool by_node = false;        // padded by an operator of its own, not by the window's argument
  bool in_one_module = false;  // that operator and the window belong to one call of a module
};

/// ⌈size / stride⌉ results: as tf.nn.convolution(padding="SAME") pads, the odd one behind.
Pad same_pad(const WindowDim& dim);
std::vector<Pad> same_pads(const std::vector<WindowDim>& dims);

enum class PadReading { kFixed, kSame };
struct PadJudgement {
  PadReading reading = PadReading::kFixed;
  bool sure = true;  // false: the other one would fit, too
};

/// Judges the paddings of one program by each other.
class PadEvidence {
 public:
  void add(const PaddedWindow& window);
  /// What a recorded padding is. Add all windows of the program before.
  PadJudgement judge(const PaddedWindow& window) const;

 private:
  using Shape = std::vector<int64_t>;  // kernel, stride, dilation of each dim
  struct Owner {
    bool pads_otherwise = false;    // some padding that is not "same"
    bool unpadded = false;          // a window that "same" would pad and that has none
    bool varies_with_size = false;  // one shape of a window, several pads, all "same"
    std::map<Shape, std::vector<Pad>> padded, by_node;  // the first pads seen, by window
    bool varies_with_shape() const;
  };
  std::map<std::string, Owner> owners_;
};

}  // namespace tmeter::resize
