#include "torchscript/load/model_file.hpp"

#include <caffe2/serialize/versions.h>

#include <algorithm>
#include <cstring>

#include "operators/messages.hpp"
#include "operators/quantized.hpp"
#include "torchscript/archive/checks.hpp"
#include "torchscript/load/names.hpp"
#include "torchscript/load/operator_mode.hpp"
#include "torchscript/load/safety.hpp"

namespace tmeter::torch_backend {
namespace {

/// Constants up to this size are read, because their values may control the program.
constexpr int64_t kMaxConstantNumel = 1 << 18;

void require_known_version(uint64_t version) {
  using namespace caffe2::serialize;
  if (version >= kMinSupportedFileFormatVersion && version <= kMaxSupportedFileFormatVersion)
    return;
  throw Error(TMETER_BAD_MODEL, "the file has TorchScript file format " + std::to_string(version) +
                                    "; the LibTorch of this tmeter reads " +
                                    std::to_string(kMinSupportedFileFormatVersion) + " to " +
                                    std::to_string(kMaxSupportedFileFormatVersion) +
                                    ". Rebuild tmeter with a newer LibTorch (./dev setup)");
}

/// `value` with every tensor in it replaced by `f(tensor)`. The recursion is bounded:
/// check_pickle() limits nesting.
template <class F>
c10::IValue with_tensors(const c10::IValue& value, const F& f) {
  if (value.isTensor()) return f(value.toTensor());
  if (value.isTuple()) {
    std::vector<c10::IValue> items;
    for (const auto& item : value.toTupleRef().elements()) items.push_back(with_tensors(item, f));
    const auto type = value.toTupleRef().type();
    return type->name() ? c10::ivalue::Tuple::createNamed(std::move(items), type)
                        : c10::ivalue::Tuple::create(std::move(items));
  }
  if (value.isTensorList() || (value.isList() && !value.isIntList() && !value.isDoubleList())) {
    auto list = value.toList();
    for (size_t i = 0; i < list.size(); ++i) list.set(i, with_tensors(list.get(i), f));
  } else if (value.isGenericDict()) {
    auto dict = value.toGenericDict();
    for (const auto& entry : dict) entry.setValue(with_tensors(entry.value(), f));
  }
  return value;
}

/// Whether the pickle names a storage of quantized values, "torch QInt8Storage".
bool names_quantized(std::string_view pickle) {
  return pickle.find("ctorch\nQ") != std::string_view::npos;
}

}  // namespace

ModelFile::ModelFile(const Request& request, const Call& call)
    : call_(call),
      archive_(request.source()),
      storages_(archive_),
      declarations_(archive_, call),
      trusted_(request.trusted()),
      code_(std::make_shared<torch::jit::CompilationUnit>()),
      importer_(
          code_, &constants_, [this](const std::string& q) { return find_source(q); },
          archive_.format_version()) {
  require_known_version(archive_.format_version());
  read_constants();
  read_root();
  read_recorded_inputs();
}

std::shared_ptr<torch::jit::Source> ModelFile::find_source(const std::string& qualifier) const {
  std::string path = "code/" + qualifier + ".py";
  std::replace(path.begin() + 5, path.end() - 3, '.', '/');
  const auto entry = archive_.find(path);
  if (!entry) return nullptr;
  call_.at("loading " + path);
  const auto text = archive_.read(*entry);
  check_source(text, path);
  return std::make_shared<torch::jit::Source>(std::string(text), path, 1);
}

c10::intrusive_ptr<c10::ivalue::Object> ModelFile::make_object(const c10::StrongTypePtr& type,
                                                               const c10::IValue& made) {
  const auto cls = type.type_->expect<c10::ClassType>();
  const auto state = made.isTuple() ? weightless(made) : made;
  if (auto weights = packed_object(cls, state)) return weights->toObject();
  if (auto module = packed_module(type, state)) return *module;
  auto object = c10::ivalue::Object::create(type, cls->numAttributes());
  if (auto* set_state = cls->findMethod("__setstate__")) {
    if (!trusted_) refuse_setstate(archive_.path(), *cls);
    run_set_state(*set_state, object, state);
    return object;
  }
  const auto attributes = state.toGenericDict();
  for (size_t i = 0; i < cls->numAttributes(); ++i) {
    const auto& name = cls->getAttributeName(i);
    check_classes(attributes.at(name), *cls->getAttribute(i), name);
    object->setSlot(i, weightless(attributes.at(name)));
  }
  return object;
}

/// Runs code of a trusted file, with the real weights if the file has them.
void ModelFile::run_set_state(torch::jit::Function& function, const c10::IValue& object,
                              const c10::IValue& state) const {
  const auto real = [this](const at::Tensor& t) {
    const auto copy = storages_.read(t);
    return copy.defined() ? copy : t;
  };
  try {
    function({object, with_tensors(state, real)});
  } catch (const std::exception& e) {
    throw Error(TMETER_CANNOT_RUN, plain_name(function.qualname().qualifiedName()) +
                                       " fails while the file is loaded: " + short_reason(e));
  }
}

/// The value on the meta device. Only a pickle with quantized tensors has tensors elsewhere.
c10::IValue ModelFile::weightless(const c10::IValue& value) {
  if (!quantized_) return value;
  return with_tensors(value, [this](const at::Tensor& t) { return storages_.to_meta(t); });
}

/// The type, compiled if it was not yet.
c10::StrongTypePtr ModelFile::type_named(const c10::QualifiedName& name) {
  const CompilationGuard guard;
  return {code_, importer_.loadType(name)};
}

c10::IValue ModelFile::unpickle(const std::string& name) {
  const auto record = name + ".pkl";
  call_.at("loading " + record);
  const auto data = archive_.read(record);
  check_pickle(data, record);
  quantized_ = names_quantized(data);
  return translate_load_errors(record, [&] {
    size_t at = 0;
    const auto reader = [&](char* out, size_t size) {
      const auto part = data.substr(at, size);
      std::memcpy(out, part.data(), part.size());
      at += part.size();
      return part.size();
    };
    torch::jit::Unpickler unpickler(
        reader, [this](const c10::QualifiedName& type) { return type_named(type); },
        [this](const c10::StrongTypePtr& type, const c10::IValue& state) {
          return make_object(type, state);
        },
        [&](const std::string& storage) -> at::DataPtr {
          throw Error(TMETER_BAD_MODEL,
                      "the archive is damaged: '" + name + "/" + storage + "' is missing");
        },
        std::nullopt, /*use_storage_device=*/true, torch::jit::Unpickler::defaultTypeParser,
        storages_.open(name + "/", quantized_ ? at::kCPU : at::kMeta));
    unpickler.set_version(archive_.format_version());
    return weightless(unpickler.parse_ivalue());
  });
}

void ModelFile::read_constants() {
  const auto value = unpickle("constants");
  if (!value.isTuple()) throw Error(TMETER_BAD_MODEL, "'constants.pkl' is damaged: no tuple");
  const auto real = [this](const at::Tensor& t) {
    StorageTable::check(t, "constants");
    if (!t.defined() || t.numel() > kMaxConstantNumel) return t;
    const auto copy = storages_.read(t);
    return copy.defined() ? copy : t;
  };
  for (const auto& item : value.toTupleRef().elements()) {
    constants_.push_back(with_tensors(item, real));
  }
}

void ModelFile::read_root() {
  const auto value = unpickle("data");
  if (!value.isModule()) throw Error(TMETER_BAD_MODEL, "'data.pkl' is damaged: no module");
  root_ = torch::jit::Module(value.toObject());
}

// {"forward": [first argument, …]}; any other form counts as no inputs.
void ModelFile::read_recorded_inputs() {
  if (!archive_.traced()) return;
  const auto value = unpickle("traced_inputs");
  if (!value.isGenericDict()) return;
  for (const auto& entry : value.toGenericDict()) {
    if (!entry.key().isString() || entry.key().toStringRef() != "forward") continue;
    if (!entry.value().isList()) return;
    for (const c10::IValue& item : entry.value().toListRef()) recorded_inputs_.push_back(item);
  }
}

}  // namespace tmeter::torch_backend
