// A TorchScript archive as records: "constants.pkl", "code/__torch__/net.py", "data/12".
//
// Everything is read through the host's Source, so there is one view of the ZIP directory. Record
// names omit the root folder, which has the name the file was saved under.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <utility>
#include <vector>

namespace tmeter::torch_backend {

class Archive {
 public:
  /// Throws TMETER_BAD_MODEL if the file is not a TorchScript archive.
  explicit Archive(const Source& source);

  std::optional<Entry> find(std::string_view record) const;
  /// The records below a folder by their names in it: "data/12" is "12" in "data/".
  std::vector<std::pair<std::string, Entry>> folder(const std::string& name) const;
  /// The content, valid as long as the Source.
  std::string_view read(const Entry& entry) const { return source_.read(entry); }
  std::string_view read(std::string_view record) const;

  uint64_t format_version() const { return version_; }
  /// Whether torch.jit.trace wrote the file: it stores its example inputs.
  bool traced() const { return find("traced_inputs.pkl").has_value(); }
  /// The file as the user named it.
  std::string path() const { return std::string(source_.path()); }

 private:
  uint64_t read_version() const;
  void require_little_endian() const;

  Source source_;
  std::string root_;  // "resnet50/"
  uint64_t version_ = 0;
};

}  // namespace tmeter::torch_backend
