#include "torchscript/input_inference/candidates.hpp"

#include <algorithm>
#include <array>
#include <tmeter/cpp/dtype.hpp>

#include "operators/evaluator.hpp"

namespace tmeter::torch_backend {
namespace {

using Shape = std::vector<int64_t>;
using Kind = Constraint::Kind;

constexpr size_t kMaxCandidates = 400;

/// Image sizes, the most common first. Those after 299 are for models with a fixed size.
constexpr std::array<int64_t, 22> kImageSizes{224, 256, 384, 512, 299, 320, 336, 448,
                                              240, 260, 300, 192, 160, 128, 96,  64,
                                              32,  28,  480, 640, 800, 1024};
constexpr std::array<int64_t, 9> kLengths{128, 64, 32, 16, 256, 512, 8, 77, 1};
constexpr std::array<int64_t, 8> kSignals{16000, 1024, 3000, 128, 100, 48000, 32, 16};
struct Clip {
  int64_t frames, size;
};
constexpr std::array<Clip, 5> kClips{{{16, 112}, {16, 224}, {32, 224}, {16, 16}, {32, 32}}};
constexpr int64_t kSteps = 100;  // steps of a recurrent layer
/// Detection models resize their images; their documentation uses this size.
constexpr int64_t kDetectionSize = 800;

at::Tensor shaped(const Shape& dims, at::ScalarType dtype) {
  return at::empty(dims, at::dtype(dtype).device(at::kMeta));
}

std::vector<Shape> image_shapes(int64_t channels, const std::vector<int64_t>& named) {
  std::vector<Shape> out;
  for (const auto s : named) out.push_back({1, channels, s, s});
  for (const auto s : kImageSizes) out.push_back({1, channels, s, s});
  return out;
}

std::vector<Shape> shapes_for(const Constraint& constraint, const std::vector<int64_t>& named) {
  std::vector<Shape> out;
  switch (constraint.kind) {
    case Kind::kChannels:
      if (constraint.spatial == 2) {
        out = image_shapes(constraint.size, named);
        // A later convolution may have given the constraint, if the first one's weight is computed
        // (standardised) or its input rearranged. The input is then most likely a colour image.
        if (constraint.size != 3) {
          for (auto& s : image_shapes(3, named)) out.push_back(std::move(s));
        }
        return out;
      }
      if (constraint.spatial == 3) {
        for (const auto& c : kClips) out.push_back({1, constraint.size, c.frames, c.size, c.size});
      } else {
        for (const auto n : kSignals) out.push_back({1, constraint.size, n});
      }
      return out;
    case Kind::kFeatures:
      return {{1, constraint.size},
              {1, 16, constraint.size},
              {16, 1, constraint.size},
              {1, 14, 14, constraint.size},
              {1, 56, 56, constraint.size}};
    case Kind::kSequence:
      return constraint.batch_first
                 ? std::vector<Shape>{{1, kSteps, constraint.size}, {kSteps, constraint.size}}
                 : std::vector<Shape>{{kSteps, 1, constraint.size}, {kSteps, constraint.size}};
    case Kind::kIndices:
      for (const auto n : kLengths) out.push_back({1, n});
      out.push_back({16});
      out.push_back({1});
      out.emplace_back();
      return out;
    case Kind::kNone:
      break;
  }
  return out;
}

std::vector<at::Tensor> tensors_for(const Constraint& constraint,
                                    const std::vector<int64_t>& named) {
  std::vector<at::Tensor> out;
  for (const auto& s : shapes_for(constraint, named)) out.push_back(shaped(s, constraint.dtype));
  return out;
}

/// Candidates for an argument without a constraint beside `main`: the same shape, a mask over it,
/// one number per sample.
std::vector<at::Tensor> companions(const at::Tensor& main) {
  const auto dims = main.sizes().vec();
  std::vector<at::Tensor> out{shaped(dims, main.scalar_type())};
  const auto add = [&](const Shape& s, std::initializer_list<at::ScalarType> types) {
    for (const auto t : types) out.push_back(shaped(s, t));
  };
  if (dims.size() == 2) {
    add(dims, {at::kBool, at::kFloat, at::kLong});
    add({dims[1], dims[1]}, {at::kFloat, at::kBool});
    add({dims[0], 1, dims[1], dims[1]}, {at::kFloat, at::kBool});
  } else if (dims.size() == 3) {
    add({dims[0], dims[1]}, {at::kBool, at::kFloat, at::kLong});
    add({dims[1], dims[1]}, {at::kFloat, at::kBool});
    add({dims[0], dims[0]}, {at::kFloat, at::kBool});
    add({dims[1], dims[0]}, {at::kBool});
  } else if (dims.size() >= 4) {
    add({dims[0], dims[2], dims[3]}, {at::kBool, at::kFloat});
    add({dims[0], 1, dims[2], dims[3]}, {at::kFloat, at::kBool});
  }
  if (!dims.empty()) add({dims[0]}, {at::kFloat, at::kLong});
  add({}, {at::kFloat, at::kLong});
  return out;
}

class CandidateCombiner {
 public:
  CandidateCombiner(const std::vector<UnknownInput>& unknowns, const at::Tensor& given,
                    const std::vector<int64_t>& sizes)
      : unknowns_(unknowns), given_(given), sizes_(sizes) {}

  std::vector<Candidate> run() {
    const auto leader = lead();
    const size_t rounds = leader ? tensors_for(leader->constraint, sizes_).size() : 1;
    for (size_t round = 0; round < rounds && out_.size() < kMaxCandidates; ++round) {
      const auto main = leader ? tensors_for(leader->constraint, sizes_)[round] : given_;
      std::vector<std::vector<c10::IValue>> options;
      for (const auto& u : unknowns_) {
        options.push_back(options_for(*u.type, u.constraint, main, leader, round));
        if (options.back().empty()) return {};
      }
      combine(options, {});
    }
    return std::move(out_);
  }

 private:
  /// The argument that determines the size of the others: the first one with a constraint.
  const UnknownInput* lead() const {
    for (const auto& u : unknowns_) {
      if (u.constraint.kind != Kind::kNone) return &u;
    }
    return nullptr;
  }

  std::vector<c10::IValue> options_for(const c10::Type& type, const Constraint& constraint,
                                       const at::Tensor& main, const UnknownInput* leader,
                                       size_t round) const {
    std::vector<c10::IValue> out;
    switch (type.kind()) {
      case c10::TypeKind::TensorType:
        for (const auto& t : tensors(constraint, main, leader, round)) out.emplace_back(t);
        return out;
      case c10::TypeKind::OptionalType:
        return {c10::IValue()};
      case c10::TypeKind::IntType:
        return {int64_t{1}};
      case c10::TypeKind::FloatType:
        return {1.0};
      case c10::TypeKind::BoolType:
        return {false};
      case c10::TypeKind::ListType:
        return lists(type, constraint, main, leader, round);
      case c10::TypeKind::TupleType:
        return tuples(type, constraint, main, leader, round);
      default:
        return {};
    }
  }

  std::vector<at::Tensor> tensors(const Constraint& constraint, const at::Tensor& main,
                                  const UnknownInput* leader, size_t round) const {
    if (constraint.kind == Kind::kNone) {
      return main.defined() ? companions(main) : std::vector<at::Tensor>{};
    }
    auto own = tensors_for(constraint, sizes_);
    if (leader && constraint.kind == leader->constraint.kind &&
        constraint.spatial == leader->constraint.spatial) {
      own = {own[round]};  // arguments of one kind have equal sizes: pairs of images, ids and types
    } else if (given_.defined()) {
      own.insert(own.begin(), companions(given_)[0]);
    }
    return own;
  }

  /// List[Tensor] is mostly images without a batch dim.
  std::vector<c10::IValue> lists(const c10::Type& type, const Constraint& constraint,
                                 const at::Tensor& main, const UnknownInput* leader,
                                 size_t round) const {
    if (type.containedTypes()[0]->kind() != c10::TypeKind::TensorType) return {};
    std::vector<c10::IValue> out;
    const auto add = [&](const at::Tensor& t) {
      out.emplace_back(c10::List<at::Tensor>(std::initializer_list<at::Tensor>{t}));
    };
    if (constraint.kind == Kind::kChannels && constraint.spatial == 2 && round == 0) {
      add(shaped({constraint.size, kDetectionSize, kDetectionSize}, constraint.dtype));
    }
    for (const auto& t : tensors(constraint, main, leader, round)) {
      if (t.dim() > 2) add(shaped(t.sizes().slice(1).vec(), t.scalar_type()));
      add(t);
    }
    return out;
  }

  std::vector<c10::IValue> tuples(const c10::Type& type, const Constraint& constraint,
                                  const at::Tensor& main, const UnknownInput* leader,
                                  size_t round) const {
    std::vector<c10::IValue> items;
    for (const auto& item : type.containedTypes()) {
      const auto options = options_for(*item, constraint, main, leader, round);
      if (options.empty()) return {};
      items.push_back(options[0]);
    }
    return {c10::ivalue::Tuple::create(std::move(items))};
  }

  void combine(const std::vector<std::vector<c10::IValue>>& options, Candidate chosen) {
    if (chosen.size() == options.size()) {
      out_.push_back(std::move(chosen));
      return;
    }
    for (const auto& value : options[chosen.size()]) {
      if (out_.size() >= kMaxCandidates) return;
      auto next = chosen;
      next.push_back(value);
      combine(options, std::move(next));
    }
  }

  const std::vector<UnknownInput>& unknowns_;
  const at::Tensor& given_;
  const std::vector<int64_t>& sizes_;
  std::vector<Candidate> out_;
};

std::string tensor_option(const at::Tensor& t) {
  std::string out;
  for (const auto d : t.sizes()) out += (out.empty() ? "" : "x") + std::to_string(d);
  if (out.empty()) out = "scalar";
  if (t.scalar_type() == at::kFloat) return out;
  return out + ":" + std::string(DType(static_cast<int32_t>(t.scalar_type())).code());
}

}  // namespace

std::vector<Candidate> input_candidates(const std::vector<UnknownInput>& unknowns,
                                        const at::Tensor& given,
                                        const std::vector<int64_t>& sizes) {
  return CandidateCombiner(unknowns, given, sizes).run();
}

std::string as_option(const c10::IValue& value) {
  if (value.isTensor()) return tensor_option(value.toTensor());
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isNone()) return "none";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return c10::str(value.toDouble());
  std::string out;
  const auto add = [&](const c10::IValue& item) {
    out += (out.empty() ? "" : ",") + as_option(item);
  };
  if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) add(item);
    return "(" + out + ")";
  }
  if (!value.isList()) return value.tagKind();
  for (const c10::IValue& item : value.toListRef()) add(item);
  return "[" + out + "]";
}

}  // namespace tmeter::torch_backend
