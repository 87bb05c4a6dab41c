// The elements of encoded tensors, by the decoders of plugins (sdk abi/draft/decoder.h).
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/plugin_host/registry.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {

class Decoders final : public ElementDecoder {
 public:
  /// Opens the plugins that decode an encoding of the graph; both outlive this object. Throws
  /// Error(kUsage) when two plugins decode the same one.
  Decoders(Registry& registry, const Graph& graph, CallLog& log);
  ~Decoders() override;
  Decoders(const Decoders&) = delete;
  Decoders& operator=(const Decoders&) = delete;

  std::string_view unavailable(const Tensor& tensor, const TensorBytes& bytes) override;
  void decode(const Tensor& tensor, int64_t first, int64_t count, float* out) override;
  bool in_order(const Tensor& tensor) override;

 private:
  /// An encoding of the graph.
  struct DecoderChoice {
    const Plugin* plugin = nullptr;
    const tmeter_decoder* decoder = nullptr;
    std::string why;  // the reason for a missing decoder
  };
  /// A requested tensor.
  struct OpenedTensor {
    const DecoderChoice* choice = nullptr;
    void* state = nullptr;
    std::string why;  // the reason why it cannot be decoded
    std::vector<tmeter_bytes> parts;
    tmeter_stored_tensor stored{};
  };

  void find(Registry& registry, std::string_view encoding);
  const OpenedTensor& opened(const Tensor& tensor, const TensorBytes* bytes);
  void open(const Tensor& tensor, const TensorBytes& bytes, OpenedTensor& out);
  tmeter_call call_of(const DecoderChoice& choice) const;

  const Graph& graph_;
  CallLog& log_;
  std::map<std::string, DecoderChoice, std::less<>> choices_;
  std::mutex mutex_;  // guards the members below
  std::unordered_map<const Tensor*, OpenedTensor> opened_;
};

}  // namespace tmeter::core
