#include "text/templates.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "parallel.hpp"

namespace margent {

TemplateEncoder::TemplateEncoder(std::vector<Template> templates, int n_columns)
    : templates_(std::move(templates)), n_columns_(n_columns), reach_(0) {
  for (const Template& t : templates_)
    for (const auto& cell : t.cells) reach_ = std::max(reach_, std::abs(cell.first));
  for (const Template& t : templates_) {
    const std::size_t begin = cells_.size();
    for (const auto& [offset, column] : t.cells) cells_.push_back({column, offset + reach_});
    compiled_.push_back({static_cast<std::uint64_t>(t.text) << 32, begin, cells_.size(), t.edge});
    ++n_of_kind_[t.edge];
  }
}

// Two different features could only share a key by a collision of 64-bit hashes: with 10 million features the chance
// that any two do is about 3e-6, and the effect would be one shared weight row.
std::uint64_t TemplateEncoder::key(std::int32_t text, const std::int32_t* codes, std::size_t n) {
  std::uint64_t h = static_cast<std::uint64_t>(text) << 32;
  for (std::size_t i = 0; i < n; ++i) h = mix(h + static_cast<std::uint32_t>(codes[i]) + 0x632BE59BD9B4E019ull);
  return h;
}

void TemplateEncoder::encode(const std::vector<CodedColumn>& columns, const std::int64_t* sentence_ptr,
                             std::int64_t n_sentences, bool grow, int threads, EncodedTokens& features,
                             EncodedTokens& edges) {
  constexpr std::int64_t stretch = 2048;  // tokens: what they begin with costs nothing, and their ids stay in the cache
  const std::int64_t n_tokens = sentence_ptr[n_sentences];
  const std::int64_t n_stretches = grow ? 1 : std::max<std::int64_t>(1, n_tokens / stretch);
  if (n_stretches == 1 || threads == 1)
    return encode_stretch(columns, sentence_ptr, 0, n_sentences, grow, features, edges);
  std::vector<std::int64_t> begins{0};
  for (std::int64_t i = 1; i < n_stretches; ++i)
    begins.push_back(std::lower_bound(sentence_ptr + begins.back(), sentence_ptr + n_sentences, i * stretch) -
                     sentence_ptr);
  begins.push_back(n_sentences);
  EncodedTokens* const out[2] = {&features, &edges};
  for (int edge = 0; edge < 2; ++edge) {
    out[edge]->ids.resize(n_tokens * n_of_kind_[edge]);
    out[edge]->ptr.resize(n_tokens + 1);
  }
  // Where the ids of a stretch begin is known when those of the one before it are. Stretches are begun in order, so
  // that a thread seldom waits for that.
  struct Begin {
    std::int64_t ids[2] = {0, 0};
    std::atomic<bool> known{false};
  };
  std::vector<Begin> places(n_stretches + 1);
  places[0].known = true;
  std::atomic<bool> failed{false};
  struct alignas(64) Part {  // threads that write to neighbours do not share a cache line
    EncodedTokens kinds[2];
  };
  std::vector<Part> parts(workers(n_stretches, threads));
  parallel(n_stretches, threads, [&](std::size_t thread, std::int64_t i) {
    auto& part = parts[thread].kinds;
    try {
      encode_stretch(columns, sentence_ptr, begins[i], begins[i + 1], false, part[0], part[1]);
    } catch (...) {
      failed = true;
      throw;
    }
    while (!places[i].known.load(std::memory_order_acquire)) {
      if (failed) return;
      check_interruption(256);
      std::this_thread::yield();
    }
    for (int edge = 0; edge < 2; ++edge)
      places[i + 1].ids[edge] = places[i].ids[edge] + static_cast<std::int64_t>(part[edge].ids.size());
    places[i + 1].known.store(true, std::memory_order_release);
    for (int edge = 0; edge < 2; ++edge) {
      const std::int64_t begin = places[i].ids[edge];
      std::copy(part[edge].ids.begin(), part[edge].ids.end(), out[edge]->ids.begin() + begin);
      std::int64_t* const ptr = out[edge]->ptr.data() + sentence_ptr[begins[i]];
      for (std::size_t t = 1; t < part[edge].ptr.size(); ++t) ptr[t] = begin + part[edge].ptr[t];
    }
  });
  for (int edge = 0; edge < 2; ++edge) out[edge]->ids.resize(places[n_stretches].ids[edge]);
}

void TemplateEncoder::encode_stretch(const std::vector<CodedColumn>& columns, const std::int64_t* sentence_ptr,
                                     std::int64_t first, std::int64_t last, bool grow, EncodedTokens& features,
                                     EncodedTokens& edges) {
  const std::int64_t n_tokens = sentence_ptr[last] - sentence_ptr[first];
  const std::size_t n_templates = templates_.size();
  // Ids are written through pointers of this function's own, as the vectors' ends would have to be stored each time.
  EncodedTokens* out[2] = {&features, &edges};
  std::int32_t* ids[2];
  std::int64_t n_ids[2] = {0, 0};
  for (int edge = 0; edge < 2; ++edge) {
    out[edge]->ids.resize(n_tokens * n_of_kind_[edge]);
    ids[edge] = out[edge]->ids.data();
    // A guess that saves most of the growing: one new feature in eight.
    if (grow && tables_[edge].size() == 0) tables_[edge].reserve(n_tokens * n_of_kind_[edge] / 8);
    out[edge]->ptr.resize(1);
    out[edge]->ptr.reserve(n_tokens + 1);
  }

  // One sentence at a time, each column copied between its boundary codes, so that a cell is one load.
  std::vector<std::int32_t> padded;
  std::vector<const std::int32_t*> column_data(n_columns_);
  const std::vector<Cell>& cells = cells_;
  const std::vector<Compiled>& compiled = compiled_;

  // Keys of the token at hand and of the next one, whose table slots are fetched meanwhile.
  std::vector<std::uint64_t> keys[2];
  std::vector<std::uint8_t> known[2];
  for (int i = 0; i < 2; ++i) keys[i].resize(n_templates), known[i].resize(n_templates);
  const auto make_keys = [&](std::int64_t t, int which) {
    for (std::size_t q = 0; q < n_templates; ++q) {
      std::uint64_t h = compiled[q].seed;
      bool all_known = true;
      for (std::size_t i = compiled[q].begin; i < compiled[q].end; ++i) {
        const std::int32_t code = column_data[cells[i].column][t + cells[i].offset];
        all_known &= code != unknown;
        h = mix(h + static_cast<std::uint32_t>(code) + 0x632BE59BD9B4E019ull);
      }
      keys[which][q] = h;
      known[which][q] = all_known;
      tables_[compiled[q].edge].prefetch(h);
    }
  };

  for (std::int64_t s = first; s < last; ++s) {
    const std::int64_t begin = sentence_ptr[s], n = sentence_ptr[s + 1] - begin;
    const std::int64_t size = n + 2 * reach_;
    padded.resize(size * n_columns_);
    for (int c = 0; c < n_columns_; ++c) {
      std::int32_t* const column = padded.data() + c * size;
      for (int d = 1; d <= reach_; ++d) {
        column[reach_ - d] = boundary(d, 0);
        column[reach_ + n + d - 1] = boundary(d, 1);
      }
      const CodedColumn codes = columns[c];
      for (std::int64_t t = 0; t < n; ++t) column[reach_ + t] = codes[begin + t];
      column_data[c] = column;
    }
    if (n > 0) make_keys(0, 0);
    for (std::int64_t t = 0; t < n; ++t) {
      if (t % 256 == 0)
        check_interruption(std::min<std::int64_t>(n - t, 256) * static_cast<std::int64_t>(8 * n_templates));
      const int now = static_cast<int>(t & 1);
      if (t + 1 < n) make_keys(t + 1, 1 - now);
      for (std::size_t q = 0; q < n_templates; ++q) {
        if (!known[now][q]) continue;
        const int edge = compiled[q].edge;
        KeyTable& table = tables_[edge];
        std::int32_t id;
        if (grow) {
          id = table.add(keys[now][q]);
          FeatureNames& names = names_[edge];
          if (id == static_cast<std::int32_t>(names.text.size())) {
            names.text.push_back(templates_[q].text);
            for (std::size_t i = compiled[q].begin; i < compiled[q].end; ++i)
              names.codes.push_back(column_data[cells[i].column][t + cells[i].offset]);
            names.ptr.push_back(static_cast<std::int64_t>(names.codes.size()));
          }
        } else {
          id = table.find(keys[now][q]);
          if (id == not_found) continue;
        }
        ids[edge][n_ids[edge]++] = id;
      }
      for (int edge = 0; edge < 2; ++edge) out[edge]->ptr.push_back(n_ids[edge]);
    }
  }
  for (int edge = 0; edge < 2; ++edge) out[edge]->ids.resize(n_ids[edge]);
}

void TemplateEncoder::restore(bool edge, const FeatureNames& names) {
  KeyTable table;
  table.reserve(names.text.size());
  for (std::size_t i = 0; i < names.text.size(); ++i) {
    check_interruption(64);
    table.add(key(names.text[i], names.codes.data() + names.ptr[i], names.ptr[i + 1] - names.ptr[i]));
  }
  if (table.size() != static_cast<std::int32_t>(names.text.size()))
    throw std::invalid_argument("two features have the same name");
  names_[edge] = names;
  tables_[edge] = std::move(table);
}

void TemplateEncoder::filter(bool edge, const std::vector<bool>& keep) {
  FeatureNames& old = names_[edge];
  FeatureNames kept;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    kept.text.push_back(old.text[i]);
    kept.codes.insert(kept.codes.end(), old.codes.begin() + old.ptr[i], old.codes.begin() + old.ptr[i + 1]);
    kept.ptr.push_back(static_cast<std::int64_t>(kept.codes.size()));
  }
  tables_[edge].filter(keep);
  old = std::move(kept);
}

}  // namespace margent
