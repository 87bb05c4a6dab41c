"""Encoded tensors and metadata, from third-party plugins: a loader that pushes them, a decoder, readers."""
import json
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import CliTest, build_plugin, main, tmeter

# ACME1, then rows and columns (u32), int8 values row by row, a float32 scale for each row.
LOADER = r"""
#include <cstring>
#include <tmeter/cpp/plugin.hpp>

namespace {

void load(const tmeter::Request& request, tmeter::GraphBuilder& g, tmeter::Call&) {
  const auto bytes = request.source().bytes();
  uint32_t rows = 0, columns = 0;
  std::memcpy(&rows, bytes.data() + 5, 4);
  std::memcpy(&columns, bytes.data() + 9, 4);
  const int64_t values = int64_t{rows} * columns;
  const auto root = g.module(0, "", "acme.Net");
  const int64_t dims[] = {rows, columns}, scale_dims[] = {rows};
  tmeter_stored_part scales{};
  scales.struct_size = sizeof scales;
  scales.dtype = TMETER_DTYPE_FLOAT32;
  scales.role = tmeter::to_abi("scales");
  scales.name = tmeter::to_abi("weight_scale");
  scales.dims = scale_dims;
  scales.rank = 1;
  scales.file_offset = 13 + values;
  scales.bytes = 4 * rows;
  const tmeter_stored_part* parts[] = {&scales};
  tmeter_tensor_desc d{};
  d.kind = TMETER_TENSOR_PARAMETER;
  d.trainable = 1;
  d.owner = root;
  d.name = tmeter::to_abi("weight");
  d.dtype = TMETER_DTYPE_FLOAT32;
  d.dims = dims;
  d.rank = 2;
  d.file_offset = 13;
  d.storage_bytes = values;
  d.encoding = tmeter::to_abi("acme.rows");
  d.encoding_parameters = tmeter::to_abi("bits=8");
  d.block_elements = d.block_bytes = 4;
  d.parts = parts;
  d.part_count = 1;
  d.stored_dtype = TMETER_DTYPE_INT8;
  g.tensor(d);
  d.name = tmeter::to_abi("other");
  d.encoding = tmeter::to_abi("acme.unheard_of");
  d.part_count = 0;
  d.parts = nullptr;
  g.tensor(d);
  g.metadata("acme", "name", "net");
  g.metadata("acme", "layers", int64_t{2});
  g.metadata("acme", "theta", 0.5);
  g.metadata("acme", "causal", true);
  const int64_t heads[] = {8, 4};
  g.metadata("acme", "heads", std::span<const int64_t>(heads));
  const tmeter_str words[] = {tmeter::to_abi("a"), tmeter::to_abi("b")};
  g.metadata("acme", "words", std::span<const tmeter_str>(words), 50'000);
  if (bytes.ends_with("twice")) g.metadata("acme", "name", "again");
}

void facts(const tmeter::Report& r, tmeter::Output& out, tmeter::Call&) {
  const auto g = r.graph();
  for (const auto m : g.metadata()) {
    out.print("{}:{} type {} array {} of {}:", m.space(), m.key(), int64_t{m.type()}, int64_t{m.is_array()}, m.length());
    for (uint32_t i = 0; i < m.size(); ++i)
      out.print(" {}{}", m.text(i), m.is_number() || m.type() == TMETER_METADATA_BOOL ? std::to_string(m.as_float(double(m.as_int(0, i)), i)) : "");
    out.print("\n");
  }
  out.print("heads {} none {}\n", g.metadata("acme", "heads")->as_int(0, 1), int64_t{g.metadata("acme", "none").has_value()});
  for (const auto t : g.tensors()) {
    const auto s = t.storage();
    out.print("{} {} [{}] numel {} stored {} own {} offset {}", t.name(), t.encoding(), tmeter::to_view(s.parameters), t.numel(),
              t.bytes(), s.own_bytes, t.file_offset());
    for (uint32_t i = 0; i < s.part_count; ++i) out.print(" {}={}", t.part(i).role(), t.part(i).bytes());
    out.print("\n");
  }
}

}  // namespace

TMETER_PLUGIN("com.acme.reader", "1.0.0", [](tmeter::Registrar& r) {
  r.loader("acme", "ACME file", {{"magic:41434d4531", 50}}, load);
  r.writer("facts", "facts", "text/plain", facts);
});
"""

DECODER = r"""
#include <cstring>
#include <tmeter/cpp/decoder.hpp>

namespace {

class Rows final : public tmeter::Decoding {
 public:
  explicit Rows(const tmeter::StoredTensor& t)
      : values_(t.bytes()), scales_(t.part("scales")->bytes), columns_(t.tensor().shape()[1]) {
    if (scales_.size() != size_t(t.tensor().shape()[0]) * 4) throw tmeter::Error(TMETER_UNAVAILABLE, "a row has no scale");
    float first = 0;
    std::memcpy(&first, scales_.data(), 4);
    if (first < 0) throw tmeter::Error(TMETER_UNAVAILABLE, "its first scale is negative");
  }
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = size_t(first) + i;
      float scale = 0;
      std::memcpy(&scale, scales_.data() + at / size_t(columns_) * 4, 4);
      out[i] = float(int8_t(values_[at])) * scale;
    }
  }

 private:
  std::span<const uint8_t> values_, scales_;
  int64_t columns_;
};

}  // namespace

TMETER_PLUGIN("com.acme.decoder", "1.0.0", [](tmeter::Registrar& r) {
  tmeter::decoder(r, "acme.rows", [](const tmeter::StoredTensor& t, tmeter::Call&) { return std::make_unique<Rows>(t); },
                  TMETER_DECODER_IN_ORDER);
});
"""


class Encodings(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-encodings-")
        cls.addClassCleanup(built.cleanup)
        cls.plugins = []
        for name, text in (("reader", LOADER), ("decoder", DECODER)):
            source = pathlib.Path(built.name) / f"{name}.cpp"
            source.write_text(text)
            build_plugin(source, source.with_suffix(".tmeter"))
            cls.plugins.append(source.with_suffix(".tmeter"))

    def model(self, scales=(0.5, 2.0), tail=b""):
        values = struct.pack("8b", 2, -4, 6, 8, 1, 2, 3, -10)
        return self.file("m.acme", b"ACME1" + struct.pack("<2I", 2, 4) + values + struct.pack("<2f", *scales) + tail)

    def run_with(self, model, *arguments, plugins=2):
        plugin_options = [a for p in self.plugins[:plugins] for a in ("--plugin", p)]
        return tmeter(model, *plugin_options, *arguments)

    def report(self, model, *arguments, plugins=2):
        done = self.run_with(model, "--report", "json", *arguments, plugins=plugins)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_readers_see_storage_and_metadata(self):
        done = self.run_with(self.model(), "--report", "facts")
        self.assertEqual(done.stdout.splitlines(), [
            "acme:name type 0 array 0 of 1: net",
            "acme:layers type 1 array 0 of 1: 2.000000",
            "acme:theta type 2 array 0 of 1: 0.500000",
            "acme:causal type 3 array 0 of 1: 1.000000",
            "acme:heads type 1 array 1 of 2: 8.000000 4.000000",
            "acme:words type 0 array 1 of 50000: a b",
            "heads 4 none 0",
            "weight acme.rows [bits=8] numel 8 stored 16 own 8 offset -1 scales=8",
            "other acme.unheard_of [bits=8] numel 8 stored 8 own 8 offset -1",
        ], done.stderr)

    def test_statistics_are_those_of_decoded_numbers(self):
        # 1, -2, 3, 4 | 2, 4, 6, -20: by hand
        tensors = {t["name"]: t["values"] for t in self.report(self.model(), "--plugins=param-stats")["tensors"]}
        self.assertEqual(tensors["weight"]["mean"], -0.25)
        self.assertEqual((tensors["weight"]["min"], tensors["weight"]["max"]), (-20, 6))

    def test_an_unknown_encoding_has_no_statistics(self):
        done = self.run_with(self.model(), "--plugins=param-stats", "--report", "json")
        document = json.loads(done.stdout)
        other = document["tensors"][1]["values"]
        self.assertIsNone(other.get("mean"))
        self.assertIn("no plugin decodes 'acme.unheard_of'", done.stdout)

    def test_without_the_decoder(self):
        weight = self.report(self.model(), "--plugins=param-stats", plugins=1)["tensors"][0]["values"]
        self.assertIsNone(weight.get("mean"))

    def test_a_tensor_that_the_decoder_refuses(self):
        done = self.run_with(self.model(scales=(-1, 1)), "--plugins=param-stats", "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("its first scale is negative", done.stdout)

    def test_a_part_beyond_the_file(self):
        model = self.model()
        model.write_bytes(model.read_bytes()[:-2])
        done = self.run_with(model)
        self.assertEqual(done.returncode, 4)
        self.assertIn("'weight_scale', a part of tensor 'weight', extends beyond the end of the file", done.stderr)

    def test_blocks_that_do_not_divide(self):
        model = self.file("m.acme", b"ACME1" + struct.pack("<2I", 1, 6) + bytes(6) + struct.pack("<f", 1))
        done = self.run_with(model)
        self.assertEqual(done.returncode, 4)
        self.assertIn("has 6 elements, which is not a multiple of its blocks of 4", done.stderr)

    def test_a_key_twice(self):
        done = self.run_with(self.model(tail=b"twice"))
        self.assertEqual(done.returncode, 4)
        self.assertIn("metadata 'name' of 'acme' occurs twice", done.stderr)

    def test_plugin_check(self):
        for plugin in self.plugins:
            done = tmeter("plugin", "check", plugin, "--plugin", self.plugins[0], "--plugin", self.plugins[1],
                          "--model", self.model())
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("decodes: acme.rows", tmeter("plugin", "info", "com.acme.decoder", "--plugin", self.plugins[1]).stdout)

    def test_two_decoders_of_one_encoding(self):
        copy = pathlib.Path(self.folder, "second.cpp")
        copy.write_text(DECODER.replace("com.acme.decoder", "com.other.decoder"))
        build_plugin(copy, copy.with_suffix(".tmeter"))
        done = self.run_with(self.model(), "--plugin", copy.with_suffix(".tmeter"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("both plugin com.acme.decoder and com.other.decoder decode 'acme.rows'", done.stderr)


if __name__ == "__main__":
    main()
