#include "core/base/missing_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kModelLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
constexpr std::string_view kHub = "https://huggingface.co/";

/// Names of the files beside it; only the first ones of a large folder.
std::vector<std::string> neighbours(const fs::path& path) {
  constexpr size_t kMaxEntries = 10'000;
  std::vector<std::string> names;
  std::error_code failed;
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, failed), end;
       !failed && it != end && names.size() < kMaxEntries; it.increment(failed))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string export_advice(std::string_view model) {
  return "; for a model with this name, `python -m tmeter export " + printable(model) +
         " -o model.pt2` makes a file";
}

/// "gpt2", "org/name-1.5", and not "model.pt2", "../x" or "a/b/c".
bool is_model_name(std::string_view path) {
  const auto slashes = std::count(path.begin(), path.end(), '/');
  if (path.empty() || path.find_first_not_of(kModelLetters) != path.npos || slashes > 1)
    return false;
  if (path.front() == '/' || path.front() == '.' || path.front() == '-' || path.back() == '/')
    return false;
  constexpr std::array<std::string_view, 14> kFileEndings{
      ".pt2",  ".pt",   ".pth", ".bin",   ".ckpt", ".safetensors", ".gguf",
      ".json", ".onnx", ".py",  ".ipynb", ".toml", ".html",        ".zip"};
  const bool dots = path.find('.') != path.npos;
  return !dots || (slashes == 1 && std::none_of(kFileEndings.begin(), kFileEndings.end(),
                                                [&](auto e) { return path.ends_with(e); }));
}

/// The name of "org/name" or "name" for `python -m tmeter export`.
std::string export_of(std::string_view name) {
  constexpr std::string_view kTimm = "timm/";
  return export_advice(name.starts_with(kTimm) ? "timm:" + std::string(name.substr(kTimm.size()))
                                               : "hf:" + std::string(name));
}

std::string url_advice(std::string_view url) {
  for (const std::string_view hub : {kHub, std::string_view("hf://")})
    if (url.starts_with(hub) && is_model_name(url.substr(hub.size())))
      return export_of(url.substr(hub.size()));
  const bool plain = url.starts_with("http") &&
                     url.find_first_not_of(std::string(kModelLetters) + ":") == url.npos;
  // The Hub shows a file's page under /blob/ and the file itself under /resolve/.
  std::string file(url);
  if (const auto at = file.find("/blob/"); url.starts_with(kHub) && at != file.npos)
    file.replace(at, 6, "/resolve/");
  return "; tmeter reads files: download it first" +
         (plain ? " with `curl -LO " + file + "`" : std::string());
}

/// " (did you mean 'resnet50.pt2'?)" for "resnt50": without an ending, only the stems are compared.
std::string similar_file_hint(const fs::path& file) {
  const auto name = file.filename().string();
  const auto files = neighbours(file);
  if (name.find('.') != name.npos) return did_you_mean(name, files);
  constexpr size_t kShort = 5;  // "gpt2" and "p1" differ by two letters
  std::vector<std::string> stems;
  for (const auto& f : files) stems.push_back(f.substr(0, f.find('.', 1)));
  const auto near = name.size() < kShort
                        ? std::find_if(stems.begin(), stems.end(),
                                       [&](const auto& stem) { return stem.starts_with(name); })
                        : std::find(stems.begin(), stems.end(), nearest(name, stems));
  if (near == stems.end()) return {};
  return " (did you mean '" + printable(files[static_cast<size_t>(near - stems.begin())]) + "'?)";
}

}  // namespace

std::string missing_file_advice(const std::string& path) {
  constexpr std::string_view kFileUrl = "file://";
  if (path.starts_with(kFileUrl))
    return "; give only the path: " + printable(path.substr(kFileUrl.size()));
  if (path.find("://") != path.npos) return url_advice(path);
  if (path == "-") return "; a model is not read from a pipe: save it to disk first";
  if (path.starts_with("~/")) return "; the shell replaces ~ outside of quotes only";
  if (path.find_first_of("*?[") != path.npos) return "; no file matches this pattern";
  for (const std::string_view source : {"hf:", "timm:", "torchvision:"})
    if (path.starts_with(source)) return export_advice(path);
  const fs::path file(path);
  for (const std::string library : {"torchvision.models.", "timm."})
    if (path.starts_with(library) && library.size() < path.size())
      return export_advice(library.substr(0, library.find('.')) + ":" +
                           path.substr(path.rfind('.') + 1));
  if (const auto near = similar_file_hint(file); !near.empty()) return near;
  return is_model_name(path) ? export_of(path) : std::string();
}

}  // namespace tmeter::core
