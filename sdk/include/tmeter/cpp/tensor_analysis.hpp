// Analyses of tensor elements, streamed by the host (abi/tensor_analysis.h):
//
//   struct Zeros final : tmeter::TensorAnalysis {
//     void chunk(const tmeter::Chunk& c, tmeter::Call&) override {
//       for (float v : c.as<float>()) zeros += v == 0;
//     }
//     void merge(tmeter::TensorAnalysis& other) override { zeros +=
//     static_cast<Zeros&>(other).zeros; } void emit(const tmeter::Tensor& t, tmeter::Call& call)
//     override {
//       call.emit("zeros", TMETER_AXIS_TENSOR, t.index(), tmeter::Count(zeros));
//     }
//     int64_t zeros = 0;
//   };
//   r.tensor_analysis("zeros", "zeros", is_float, [](const tmeter::TensorPart&, tmeter::Call&) {
//     return std::make_unique<Zeros>(); });
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "call.hpp"

TMETER_SDK_BEGIN

/// Consecutive elements of a tensor in row-major order.
class Chunk {
 public:
  explicit Chunk(const tmeter_chunk& c) : c_(c) {}
  int64_t first() const { return c_.first; }
  int64_t count() const { return c_.count; }
  std::span<const uint8_t> bytes() const { return {c_.bytes.ptr, c_.bytes.len}; }
  /// The elements; T has the size of one.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(c_.bytes.ptr), c_.bytes.len / sizeof(T)};
  }

 private:
  tmeter_chunk c_;
};

class TensorAnalysis;

/// The extent of a state: elements [first, first + count) of a tensor in one pass over it.
class TensorPart {
 public:
  explicit TensorPart(const tmeter_tensor_part& p) : p_(p) {}
  int pass() const { return p_.pass; }
  Tensor tensor() const { return Tensor(p_.tensor); }
  int64_t first() const { return p_.first; }
  int64_t count() const { return p_.count; }
  /// The final state of the previous pass, read-only; null in pass 0.
  const TensorAnalysis* earlier() const { return static_cast<const TensorAnalysis*>(p_.earlier); }

 private:
  tmeter_tensor_part p_;
};

/// The state of one part, and after `merge` of the whole tensor. Created and used on any thread, by
/// one at a time; `emit` runs on the main thread in the order of the tensors.
class TensorAnalysis {
 public:
  virtual ~TensorAnalysis() = default;
  virtual void chunk(const Chunk& chunk, Call& call) = 0;
  /// `other` saw the elements that follow this one's.
  virtual void merge(TensorAnalysis& other) = 0;
  /// True: requests another pass, with this state as `earlier`.
  virtual bool end(const TensorPart& whole, Call& call) {
    return static_cast<void>(whole), static_cast<void>(call), false;
  }
  virtual void emit(const Tensor& tensor, Call& call) = 0;
};

struct TensorAnalysisMaker {
  using Wants = std::function<bool(const Tensor&, Call&)>;
  using Make = std::function<std::unique_ptr<TensorAnalysis>(const TensorPart&, Call&)>;
  Wants wants;
  Make make;
};

/// Elements of a tensor out of order: abi/tensor_data.h.
class TensorData {
 public:
  TensorData(const Call& call, const Tensor& tensor) : call_(call.handle()), tensor_(tensor) {}
  /// Why they cannot be read; empty if they can be.
  std::string_view unavailable() const {
    return to_view(detail::tensor_data_api().unavailable(call_, tensor_.handle()));
  }
  /// Elements [first, first + count); valid until the next `view` of the same call.
  std::span<const uint8_t> view(int64_t first, int64_t count) const {
    tmeter_bytes b{};
    check(detail::tensor_data_api().view(call_, tensor_.handle(), first, count, &b));
    return {b.ptr, b.len};
  }

 private:
  tmeter_call* call_;
  Tensor tensor_;
};

namespace detail {

inline TensorAnalysis& state_of(void* p) { return *static_cast<TensorAnalysis*>(p); }

inline int32_t TMETER_ABI wants_tensor(tmeter_call* call, const tmeter_tensor* t, void* user) {
  int32_t answer = 0;
  guarded(call, [&]() -> tmeter_status {
    Call c(call);
    const auto& maker = *static_cast<TensorAnalysisMaker*>(user);
    answer = !maker.wants || maker.wants(Tensor(t), c);
    return TMETER_OK;
  });
  return answer;
}
inline tmeter_status TMETER_ABI begin_tensor(tmeter_call* call, const tmeter_tensor_part* part,
                                             void** state, void* user) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    auto made = static_cast<TensorAnalysisMaker*>(user)->make(TensorPart(*part), c);
    *state = made.release();
    return TMETER_OK;
  });
}
inline tmeter_status TMETER_ABI chunk_of_tensor(tmeter_call* call, void* state,
                                                const tmeter_chunk* chunk, void*) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    return state_of(state).chunk(Chunk(*chunk), c), TMETER_OK;
  });
}
inline tmeter_status TMETER_ABI merge_tensor(tmeter_call* call, void* state, void* other, void*) {
  return guarded(
      call, [&]() -> tmeter_status { return state_of(state).merge(state_of(other)), TMETER_OK; });
}
inline tmeter_status TMETER_ABI end_tensor(tmeter_call* call, const tmeter_tensor_part* whole,
                                           void* state, int32_t* again, void*) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    return *again = state_of(state).end(TensorPart(*whole), c), TMETER_OK;
  });
}
inline tmeter_status TMETER_ABI emit_tensor(tmeter_call* call, const tmeter_tensor* t, void* state,
                                            void*) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    return state_of(state).emit(Tensor(t), c), TMETER_OK;
  });
}
inline void TMETER_ABI release_tensor(void* state, void*) {
  delete static_cast<TensorAnalysis*>(state);
}
inline tmeter_tensor_analysis tensor_analysis_table(std::string_view name,
                                                    std::string_view produced, void* user) {
  return {sizeof(tmeter_tensor_analysis),
          0,
          to_abi(name),
          to_abi(produced),
          wants_tensor,
          begin_tensor,
          chunk_of_tensor,
          merge_tensor,
          end_tensor,
          emit_tensor,
          release_tensor,
          user};
}

}  // namespace detail
TMETER_SDK_END
