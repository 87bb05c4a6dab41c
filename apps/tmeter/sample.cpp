#include "apps/tmeter/sample.hpp"

#include <sys/mman.h>
#include <tmeter/abi/dtype.h>
#include <tmeter/abi/graph.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <numeric>

#include "core/base/error.hpp"
#include "core/ir/builder.hpp"

namespace tmeter::app {
namespace {
using namespace core;
using Id = GraphBuilder::Id;

constexpr int64_t kSize = 4;
constexpr std::array<int64_t, 2> kDims{kSize, kSize};

Id square(GraphBuilder& b) {
  const std::array<DimSpec, 2> dims{DimSpec{kSize, 0}, DimSpec{kSize, 0}};
  return b.value_tensor(TMETER_DTYPE_FLOAT32, dims);
}

TensorSpec weight_of(Id module) {
  TensorSpec t;
  t.kind = TMETER_TENSOR_PARAMETER;
  t.dtype = TMETER_DTYPE_FLOAT32;
  t.name = t.storage_key = "fc.weight";
  t.owner = module;
  t.dims = kDims;
  t.file_offset = 0;
  t.storage_bytes = kSize * kSize * static_cast<int64_t>(sizeof(float));
  t.trainable = true;
  return t;
}

}  // namespace

std::unique_ptr<Graph> sample_graph() {
  using Arguments = std::vector<std::pair<std::string_view, Id>>;
  GraphBuilder b;
  const Id root = b.module(0, "", "Net"),
           fc = b.module(root, "fc", "torch.nn.modules.linear.Linear");
  const Id call = b.module_call(root, 0), fc_call = b.module_call(fc, call);
  const Id x = square(b), hidden = square(b);
  const Id last = square(b);
  b.input("x", "file", x);
  const Id weight = b.value_bound(b.tensor(weight_of(fc)));
  b.node("aten::linear", "", fc_call, Arguments{{"input", x}, {"weight", weight}}, {{hidden}}, "");
  b.node("aten::relu", "", call, Arguments{{"self", hidden}}, {{last}}, "");
  b.output(last);
  return b.finish();
}

SampleFile::SampleFile(std::string_view content) : fd_(memfd_create("sample", MFD_CLOEXEC)) {
  if (fd_ < 0 || write(fd_, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    throw core::Error(ErrorKind::kRun, std::string("no file in memory: ") + std::strerror(errno));
  path_ = "/proc/self/fd/" + std::to_string(fd_);
}

SampleFile::~SampleFile() {
  if (fd_ >= 0) close(fd_);
}

std::string sample_weights() {
  std::array<float, kSize * kSize> values{};
  std::iota(values.begin(), values.end(), 0.F);
  return {reinterpret_cast<const char*>(values.data()), sizeof values};
}

}  // namespace tmeter::app
