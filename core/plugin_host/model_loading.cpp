#include "core/plugin_host/model_loading.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/export_note.hpp"
#include "core/plugin_host/propagation.hpp"

namespace tmeter::core {
namespace {

struct Candidate {
  bool is_catch_all;  // the match fits any file
  int32_t score;
  Plugin* plugin;
  size_t loader;  // index in the plugin's list
};

/// True if a condition holds for any file, any archive or any other file, or only excludes entries.
bool is_unselective(std::string_view condition) {
  const auto colon = std::min(condition.find(':'), condition.size() - 1);
  const auto kind = condition.substr(0, colon);
  auto what = condition.substr(colon + 1);
  if (kind == "at") what.remove_prefix(std::min(what.find(':'), what.size() - 1) + 1);
  if (kind == "name" || kind == "zip") return what.find_first_not_of("*?.") == what.npos;
  return kind.starts_with('!') || what.empty();
}

/// Such a match comes after all others regardless of its score; otherwise it would outrank the
/// loader that recognises the file.
bool is_catch_all(const std::string& conditions) {
  const auto all = split(conditions, " ");
  return std::all_of(all.begin(), all.end(), [](const auto& c) { return is_unselective(c); });
}

bool any_entry_matches(const tmeter_source& source, std::string_view pattern) {
  if (!source.archive) return false;
  const auto& entries = source.archive->entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const ZipEntry& e) { return glob_match(pattern, e.name); });
}

bool begins_with_hex(std::string_view bytes, std::string_view hex) {
  const auto wanted = bytes_of_hex(hex);
  return wanted && bytes.starts_with(*wanted);
}

/// "OFFSET:HEX": whether the file has these bytes there.
bool has_bytes_at(std::string_view bytes, std::string_view place) {
  const auto colon = place.find(':');
  size_t offset = 0;
  const auto end = place.data() + std::min(colon, place.size());
  const auto parsed = std::from_chars(place.data(), end, offset);
  if (colon == std::string_view::npos || parsed.ec != std::errc() || parsed.ptr != end)
    return false;
  return offset <= bytes.size() && begins_with_hex(bytes.substr(offset), place.substr(colon + 1));
}

bool any_file_matches(const tmeter_source& source, std::string_view pattern) {
  if (source.is_folder() && pattern == "*") return true;  // also an empty folder
  return std::any_of(source.files().begin(), source.files().end(),
                     [&](const FolderFile& f) { return glob_match(pattern, f.name); });
}

bool states_metadata(const Graph* weights, std::string_view space) {
  return weights && std::any_of(weights->metadata().begin(), weights->metadata().end(),
                                [&](const auto& m) { return m.space == space; });
}

/// `weights`: the loaded model, if its program is to be written; else null.
bool holds(std::string_view condition, const tmeter_source& source, const Graph* weights) {
  const auto colon = condition.find(':');
  const auto kind = condition.substr(0, colon), what = condition.substr(colon + 1);
  if (kind == "metadata") return states_metadata(weights, what);
  if (kind == "folder") return any_file_matches(source, what);
  if (source.is_folder()) return false;
  if (kind == "zip") return any_entry_matches(source, what);
  if (kind == "!zip") return !any_entry_matches(source, what);
  if (kind == "magic") return begins_with_hex(source.file.bytes(), what);
  if (kind == "at") return has_bytes_at(source.file.bytes(), what);
  if (kind == "name")
    return glob_match(what, std::filesystem::path(source.file.path()).filename().string());
  return false;
}

bool all_hold(const std::string& conditions, const tmeter_source& source, const Graph* weights) {
  const auto parts = split(conditions, " ");
  return !parts.empty() && std::all_of(parts.begin(), parts.end(),
                                       [&](const auto& c) { return holds(c, source, weights); });
}

/// Loaders that match the file or folder; with `weights`, those that write a program for them.
std::vector<Candidate> candidates(Registry& registry, const tmeter_source& source,
                                  const Graph* weights = nullptr) {
  std::vector<Candidate> out;
  for (const auto& p : registry.plugins()) {
    for (size_t i = 0; i < p->manifest.loaders.size(); ++i) {
      for (const auto& m : p->manifest.loaders[i].matches) {
        const bool writes = m.conditions.find("metadata:") != std::string::npos;
        if (writes == (weights != nullptr) && all_hold(m.conditions, source, weights))
          out.push_back({is_catch_all(m.conditions), m.score, p.get(), i});
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return a.is_catch_all == b.is_catch_all ? a.score > b.score : b.is_catch_all;
  });
  return out;
}

/// Guesses the kind of a file without a loader, so that the message can name a remedy.
struct FileGuess {
  const char* conditions;
  const char* what;
};
constexpr std::array<FileGuess, 28> kFileGuesses{{
    {"magic:76657273696f6e2068747470733a2f2f6769742d6c66732e",  // "version https://git-lfs."
     "a Git LFS pointer instead of the file itself; `git lfs pull` fetches that"},
    {"folder:*", "a folder without a model file that tmeter can read"},
    {"name:*.py",
     "a Python file; `python -m tmeter export MODULE:FUNCTION -o model.pt2` makes a file of the "
     "model that a function in it returns"},
    {"name:*.ipynb",
     "a notebook; in it, torch.export.save(torch.export.export(model, inputs), 'model.pt2') makes "
     "a file of the model"},
    {"zip:*data.pkl !zip:*code/*",
     "a checkpoint (torch.save), which the plugin checkpoint reads; it is not installed"},
    {"magic:80",
     "a pickle (an old torch.save file?), which the plugin checkpoint reads; it is not installed"},
    {"at:8:7b name:*.safetensors",
     "a safetensors file, which the plugin safetensors reads; it is not installed"},
    {"magic:7b name:*.index.json", "not the index of a sharded model: it has no weight_map"},
    {"magic:7b", "a JSON file"},
    {"at:257:7573746172",
     "a tar archive (torch.save before 2017?); load it with PyTorch and save it again"},
    {"magic:47475546", "a GGUF file, which the plugin gguf reads; it is not installed"},
    {"magic:894844460d0a1a0a", "an HDF5 file (Keras?); its weights as safetensors can be read"},
    {"magic:934e554d5059", "a NumPy file, and no model; --input-file gives values to a run"},
    {"zip:*.npy", "a NumPy file, and no model; --input-file gives values to a run"},
    {"name:*.onnx", "an ONNX model; export the PyTorch model that it was made from"},
    {"at:4:54464c33", "a TensorFlow Lite model; its weights as safetensors can be read"},
    {"name:*.pb", "a TensorFlow graph (or ONNX); export the PyTorch model that it was made from"},
    {"at:4:45543132", "an ExecuTorch program; give the .pt2 file before lowering"},
    {"name:*.mlmodel", "a Core ML model; give the .pt2 file that it was made from"},
    {"name:*.engine", "a TensorRT engine; give the .pt2 file that it was made from"},
    {"magic:3c21646f63747970652068746d6c",  // "<!doctype html"
     "a web page; a saved report is JSON, which `tmeter MODEL --report json=FILE` writes"},
    {"magic:1f8b", "a gzip archive; unpack it first"},
    {"magic:28b52ffd", "a zstd archive; unpack it first"},
    {"magic:fd377a585a00", "an xz archive; unpack it first"},
    {"magic:7f454c46", "a program or a library"},
    {"zip:*", "a ZIP archive, but not one that PyTorch wrote"},
    {"name:*", "not a PyTorch model file (it is neither a ZIP archive nor a known weight format)"},
}};

std::string not_available(const Candidate& c) {
  const auto& m = c.plugin->manifest;
  return "this is a " + m.loaders[c.loader].title + "; the plugin that reads it, '" + m.name +
         "', is not available: " + (c.plugin->failure.empty() ? m.unavailable : c.plugin->failure);
}

[[noreturn]] void refuse_unknown(const tmeter_source& source) {
  for (const auto& look : kFileGuesses) {
    if (!conditions_hold(look.conditions, source)) continue;
    throw Error(
        ErrorKind::kModel,
        printable(source.file.path()) + ": this is " + look.what +
            ". tmeter reads torch.export archives (.pt2), TorchScript files, checkpoints of "
            "torch.save, safetensors and GGUF files.");
  }
  throw Error(ErrorKind::kInternal, "no description fits the file");
}

/// During its lifetime, pages that the loader has read are released periodically.
class PageReleaseScope {
 public:
  PageReleaseScope(tmeter_call& call, const MappedFile& file) : call_(call) {
    call_.reading = &file;
  }
  ~PageReleaseScope() { call_.reading = nullptr; }
  PageReleaseScope(const PageReleaseScope&) = delete;
  PageReleaseScope& operator=(const PageReleaseScope&) = delete;

 private:
  tmeter_call& call_;
};

constexpr std::string_view kReading = "while reading the model";

tmeter_status run_loader(const tmeter_loader& loader, Plugin& plugin, const tmeter_request& request,
                         tmeter_builder& builder) {
  builder.call = &plugin.call;
  builder.source = request.source;
  const RunningFile running(plugin.call.run.log, view(loader.engine));
  const PageReleaseScope reading(plugin.call, request.source->file);
  return invoke(plugin.call, kReading, [&](tmeter_call* call) {
    return loader.load(call, &request, &builder, loader.user);
  });
}

/// Handles a folder given as "DIR/" or ".", too.
std::string file_name(const std::string& path) {
  std::error_code failed;
  const auto name = std::filesystem::path(path).filename();
  if (!name.empty() && name != "." && name != "..") return name.string();
  return std::filesystem::weakly_canonical(path + "/x", failed).parent_path().filename().string();
}

/// The graph of a loader that reports success. Throws PluginError when it is incomplete.
std::unique_ptr<Graph> finished(tmeter_builder& builder, const Plugin& plugin,
                                const std::string& path) {
  try {
    require_no_refusal(builder);
    if (!builder.builder.has_root())
      throw Error(ErrorKind::kPlugin,
                  "it succeeds but has pushed no model, not even a root module");
  } catch (const Error& e) {
    throw PluginError(plugin.manifest.id, std::string(kReading), e.what());
  }
  builder.builder.property("file", file_name(path));
  return builder.builder.finish();
}

/// The loader that read the model.
struct Reader {
  Plugin* plugin = nullptr;
  bool by_catch_all = false;  // chosen by a match that fits any file
  std::string name;           // name of the loader
};

/// Warns in the report that no loader recognised the file.
void warn_of_catch_all(const Reader& reader, const RunContext& run) {
  if (!reader.by_catch_all || !run.log) return;
  run.log->add(TMETER_LOG_WARNING, "tmeter",
               "the model was read by loader '" + reader.name + "' of plugin " +
                   reader.plugin->manifest.id +
                   ", which takes any file; no loader recognised this one by its content or name");
}

/// Tries loaders until one reads the file of `builder` or, without it, of the request.
Reader try_loaders(Registry& registry, const tmeter_request& request, const RunContext& run,
                   tmeter_builder& builder) {
  const auto& source = *request.source;
  std::string missing;
  if (conditions_hold(kFileGuesses[0].conditions, source))
    refuse_unknown(source);  // a Git LFS pointer has a model's name
  for (const auto& c : candidates(registry, source)) {
    if (c.plugin->library.empty() || !c.plugin->failure.empty()) {
      if (missing.empty()) missing = not_available(c);
      continue;
    }
    registry.open(*c.plugin);
    const auto& loaders = c.plugin->offers().loaders;
    if (c.loader >= loaders.size()) continue;
    c.plugin->call.run = run;
    const auto& loader = loaders[c.loader];
    const auto pushes = builder.pushes;
    if (run_loader(loader, *c.plugin, request, builder) == TMETER_OK)
      return {c.plugin, c.is_catch_all, str(loader.name)};
    if (builder.part && builder.pushes != pushes)
      throw PluginError(c.plugin->manifest.id, std::string(kReading),
                        "it declines the file after it has pushed");
    if (!builder.part) builder.begin_again();
  }
  if (!missing.empty()) throw Error(ErrorKind::kModel, missing);
  refuse_unknown(source);
}

/// Reads the files that a folder's loader has named, each with the loader that matches it.
Reader read_parts(Registry& registry, const tmeter_request& request, const RunContext& run,
                  tmeter_builder& builder, const std::vector<FolderPart>& parts) {
  Reader reader;
  for (const auto& part : parts) {
    tmeter_request of_part{part.file, request.trusted, request.inputs};
    builder.part = &part;
    try {
      reader = try_loaders(registry, of_part, run, builder);
      require_no_refusal(builder);
    } catch (const Error& e) {
      throw about_model(e, part.file->file.path());
    }
    if (part.file->archive && run.log)
      read_export_note(*part.file->archive, builder.builder, *run.log);
  }
  builder.part = nullptr;
  return reader;
}

Reader read_model(Registry& registry, const tmeter_request& request, const RunContext& run,
                  tmeter_builder& builder) {
  if (!request.source->is_folder()) return try_loaders(registry, request, run, builder);
  std::vector<FolderPart> parts;
  auto of_folder = request;
  of_folder.parts = &parts;
  const auto reader = try_loaders(registry, of_folder, run, builder);
  require_no_refusal(builder);
  return parts.empty() ? reader : read_parts(registry, request, run, builder, parts);
}

/// Adds operators to weights whose files name their architecture, with a loader that supports it.
void write_program(Registry& registry, const tmeter_request& request, const RunContext& run,
                   LoadedModel& model) {
  auto of_weights = request;
  of_weights.weights = model.graph.get();
  for (const auto& c : candidates(registry, *request.source, model.graph.get())) {
    if (c.plugin->library.empty() || !c.plugin->failure.empty()) continue;
    registry.open(*c.plugin);
    const auto& loaders = c.plugin->offers().loaders;
    if (c.loader >= loaders.size()) continue;
    c.plugin->call.run = run;
    tmeter_builder builder{.builder = {}, .frame = model.graph.get()};
    if (run_loader(loaders[c.loader], *c.plugin, of_weights, builder) != TMETER_OK) continue;
    model.graph = finished(builder, *c.plugin, request.source->file.path());
    model.propagator = c.plugin;
    return;
  }
}

}  // namespace

bool conditions_hold(const std::string& conditions, const tmeter_source& source) {
  return all_hold(conditions, source, nullptr);
}

Error about_model(const Error& e, const std::string& path) {
  constexpr std::array kinds{ErrorKind::kModel, ErrorKind::kRun, ErrorKind::kPlugin};
  if (std::find(kinds.begin(), kinds.end(), e.kind()) == kinds.end()) return e;
  const std::string text = e.what();
  const auto shown = printable(path);
  const auto name = std::filesystem::path(path).filename().string();
  const std::array beginnings{path + ":",  path + " ", path + "/",
                              shown + ":", name + ":", name + " "};
  const bool named = std::any_of(beginnings.begin(), beginnings.end(),
                                 [&](const auto& b) { return text.starts_with(b); });
  return named ? e : Error(e.kind(), shown + ": " + text);
}

LoadedModel load_model(Registry& registry, const tmeter_request& request, const RunContext& run) {
  const auto& source = *request.source;
  try {
    tmeter_builder builder;
    const auto read = read_model(registry, request, run, builder);
    if (source.archive && run.log) read_export_note(*source.archive, builder.builder, *run.log);
    LoadedModel model{finished(builder, *read.plugin, source.file.path()), read.plugin};
    warn_of_catch_all(read, run);
    if (model.graph->property("content") == "weights") write_program(registry, request, run, model);
    if (model.graph->has_input_requests()) propagate(registry, model, run);
    return model;
  } catch (const PluginError& e) {
    if (!e.opened()) throw;  // another loader may read it
    throw about_model(e, source.file.path());
  } catch (const Error& e) {
    throw about_model(e, source.file.path());
  }
}

}  // namespace tmeter::core
