#include "segments/frame_content.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "interruption.hpp"
#include "simd/kernels.hpp"
#include "simd/segment_kernels.hpp"

namespace margent {

FrameColumns::FrameColumns(const FrameShape& shape) : group_of(shape.n_labels), place_of(shape.n_labels) {
  const int d = shape.dimensions;
  statistics = shape.full ? (d + 1) * (d + 2) / 2 : 2 * d + 1;
  std::map<int, std::vector<std::int32_t>> by_bins;
  for (int l = 0; l < shape.n_labels; ++l) by_bins[shape.bins[l]].push_back(l);
  columns = 0;
  for (auto& [bins, labels] : by_bins) {
    const int width = padded_width(static_cast<int>(labels.size()));
    Group group{bins, width, labels, columns, std::vector<std::int32_t>(width / lane_count, 1), {}};
    std::int32_t longest = 1;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      group_of[labels[i]] = static_cast<std::int32_t>(groups.size());
      place_of[labels[i]] = static_cast<std::int32_t>(i);
      std::int32_t& most = group.longest[i / lane_count];
      most = std::max(most, shape.longest[labels[i]]);
      longest = std::max(longest, shape.longest[labels[i]]);
    }
    group.factors.assign(longest + 1, 1.0);
    for (int n = 1; shape.mean && n <= longest; ++n) group.factors[n] = static_cast<double>(bins) / n;
    columns += shape.components * bins * width;
    groups.push_back(std::move(group));
  }
  used.assign(columns, 0);
  for (int l = 0; l < shape.n_labels; ++l)
    for (int b = 0; b < shape.bins[l]; ++b)
      for (int m = 0; m < shape.components; ++m) used[column(l, b, m)] = 1;
}

void FrameContent::statistics(const float* x, int n, bool full, float* out) {
  for (int i = 0; i < n; ++i) {
    if (!full) *out++ = x[i] * x[i];
    for (int j = i; full && j < n; ++j) *out++ = x[i] * x[j];
  }
  out = std::copy(x, x + n, out);
  *out = 1.0f;
}

void FrameContent::turn_to(std::int64_t sequence, const float* weights, double scale) {
  length_ = length(sequence);
  sequence_ = frames_.values + frames_.sequence_ptr[sequence] * shape_.dimensions;
  collecting_ = false;
  constexpr int at_once = 48;  // statistics of so many frames stay in the cache
  const std::size_t depth = columns_.statistics, width = columns_.columns;
  float* z = statistics_.need(at_once * depth);
  float* scores = scores_.need(static_cast<std::size_t>(length_) * width);
  for (int t = 0; t < length_; t += at_once) {
    const int n = std::min(at_once, length_ - t);
    check_interruption(static_cast<std::int64_t>(n * depth * width / lane_count));
    for (int i = 0; i < n; ++i)
      statistics(sequence_ + static_cast<std::size_t>(t + i) * shape_.dimensions, shape_.dimensions, shape_.full,
                 z + i * depth);
    segment_kernels().multiply(n, static_cast<int>(depth), static_cast<int>(width), z, weights, scores + t * width);
  }
  chosen_.need(static_cast<std::size_t>(length_) * (width / shape_.components));
  std::uint8_t* chosen = chosen_.data();
  for (std::size_t g = 0; g < columns_.groups.size(); ++g) {
    const FrameColumns::Group& group = columns_.groups[g];
    const std::size_t row = static_cast<std::size_t>(group.bins + 1) * group.width;
    make_sums(group, scores, chosen, scale, sums_[g].need((length_ + 1) * row));
    chosen += static_cast<std::size_t>(length_) * group.bins * group.width;
  }
}

void FrameContent::make_sums(const FrameColumns::Group& group, const float* scores, std::uint8_t* chosen, double scale,
                             double* sums) {
  const int B = group.bins, width = group.width, values = B * width;
  const std::size_t row = static_cast<std::size_t>(B + 1) * width;
  std::fill(sums, sums + row, 0.0);
  std::vector<double> best(values);
  for (int t = 0; t < length_; ++t, sums += row, chosen += values) {
    check_interruption(std::int64_t{shape_.components} * values);
    const float* frame = scores + static_cast<std::size_t>(t) * columns_.columns + group.first;
    for (int i = 0; i < values; ++i) best[i] = frame[i];
    for (int m = 1; m < shape_.components; ++m) {
      if (m == 1) std::fill(chosen, chosen + values, std::uint8_t{0});
      for (int i = 0; i < values; ++i)
        if (frame[m * values + i] > best[i]) {
          best[i] = frame[m * values + i];
          chosen[i] = static_cast<std::uint8_t>(m);
        }
    }
    double* next = sums + row;
    for (int i = 0; i < width; ++i) next[i] = sums[i] + scale * best[i];
    for (int i = width; i < values; ++i) next[i] = sums[i] + scale * (best[i - width] - best[i]);
    for (int i = values; i < values + width; ++i) next[i] = sums[i] + scale * best[i - width];
  }
}

double FrameContent::magnitude() {
  double largest = 0;
  for (std::size_t g = 0; g < columns_.groups.size(); ++g) {
    const FrameColumns::Group& group = columns_.groups[g];
    const std::size_t row = static_cast<std::size_t>(group.bins + 1) * group.width;
    largest = std::max(largest, largest_magnitude(sums_[g].data(), (length_ + 1) * row));
  }
  return largest;
}

SegmentRows FrameContent::at(int end, int count) {
  const int width = padded_width(shape_.n_labels);
  double* rows = rows_.need(static_cast<std::size_t>(count) * width);
  const auto fill = [&](std::size_t g, int n, std::ptrdiff_t stride, double* out) {
    const FrameColumns::Group& group = columns_.groups[g];
    segment_kernels().binned_rows(n, group.longest.data(), end, group.bins, group.width, sums_[g].data(),
                                  group.factors.data(), stride, out);
  };
  const auto most = [&](const FrameColumns::Group& group) {
    return std::min(count, static_cast<int>(group.factors.size()) - 1);
  };
  if (columns_.groups.size() == 1) {
    fill(0, most(columns_.groups[0]), width, rows);
    return {rows, width};
  }
  std::fill(rows, rows + static_cast<std::size_t>(count) * width, 0.0);
  for (std::size_t g = 0; g < columns_.groups.size(); ++g) {
    const FrameColumns::Group& group = columns_.groups[g];
    double* own = group_rows_.need(static_cast<std::size_t>(count) * group.width);
    fill(g, most(group), group.width, own);
    for (int d = 0; d < most(group); ++d)
      for (std::size_t i = 0; i < group.labels.size(); ++i)
        rows[static_cast<std::size_t>(d) * width + group.labels[i]] =
            own[static_cast<std::size_t>(d) * group.width + i];
  }
  return {rows, width};
}

template <class Add>
void FrameContent::boundaries(const FrameColumns::Group& group, int begin, int end, Add add) const {
  const int d = end - begin, B = group.bins;
  const double factor = group.factors[d];
  const std::size_t row = static_cast<std::size_t>(B + 1) * group.width;
  add(begin * row, -factor);
  add(end * row + static_cast<std::size_t>(B) * group.width, factor);
  for (int k = 1; k < B; ++k) {
    const int whole = d * k / B, rest = d * k - whole * B;
    const double part = static_cast<double>(rest) / B;
    const std::size_t low = (begin + whole) * row + static_cast<std::size_t>(k) * group.width;
    add(low, factor * (1 - part));
    if (rest) add(low + row, factor * part);
  }
}

void FrameContent::start_collecting() {
  if (collecting_) return;
  collecting_ = true;
  for (std::size_t g = 0; g < changes_.size(); ++g) {
    double* changes = changes_[g].need(sums_[g].size());
    std::fill(changes, changes + sums_[g].size(), 0.0);
  }
}

void FrameContent::collect(const Segment& segment, double amount) {
  start_collecting();
  const int g = columns_.group_of[segment.label];
  double* changes = changes_[g].data() + columns_.place_of[segment.label];
  boundaries(columns_.groups[g], segment.begin, segment.end,
             [&](std::size_t at, double factor) { changes[at] += factor * amount; });
}

void FrameContent::collect_row(int begin, int end, const double* amounts) {
  start_collecting();
  for (std::size_t g = 0; g < columns_.groups.size(); ++g) {
    const FrameColumns::Group& group = columns_.groups[g];
    if (end - begin >= static_cast<int>(group.factors.size())) continue;
    const bool in_order = columns_.groups.size() == 1;
    const double* own = amounts;
    if (!in_order) {
      double* gathered = group_rows_.need(group.width);
      std::fill(gathered, gathered + group.width, 0.0);
      for (std::size_t i = 0; i < group.labels.size(); ++i) gathered[i] = amounts[group.labels[i]];
      own = gathered;
    }
    double* changes = changes_[g].data();
    boundaries(group, begin, end, [&](std::size_t at, double factor) {
      for (int i = 0; i < group.width; ++i) changes[at + i] += factor * own[i];
    });
  }
}

void FrameContent::hand_over(SparseVector& out) {
  if (!collecting_) return;
  collecting_ = false;
  // What is this small is rounding of what cancels: shares of frames in bins are far larger.
  constexpr double nothing = 1e-10;
  const std::size_t depth = columns_.statistics;
  std::vector<std::int32_t> place(columns_.columns, -1);  // of a column among those touched
  std::vector<std::int32_t> touched;
  std::vector<float> sums;
  float* z = statistics_.need(depth);
  for (int t = length_ - 1; t >= 0; --t) {
    bool made = false;
    const std::uint8_t* chosen = chosen_.data();
    for (std::size_t g = 0; g < columns_.groups.size(); ++g) {
      const FrameColumns::Group& group = columns_.groups[g];
      const int B = group.bins, width = group.width;
      const std::size_t row = static_cast<std::size_t>(B + 1) * width;
      // A frame counts in all running sums after it.
      double* here = changes_[g].data() + t * row;
      const double* after = here + row;
      for (int b = 0; b < B; ++b)
        for (int i = 0; i < width; ++i) {
          const double left = after[b * width + i], right = after[(b + 1) * width + i];
          const double amount = (b == 0 ? left : -left) + right;
          if (std::abs(amount) < nothing) continue;
          if (!made)
            statistics(sequence_ + static_cast<std::size_t>(t) * shape_.dimensions, shape_.dimensions, shape_.full, z);
          made = true;
          const int m = shape_.components == 1 ? 0 : chosen[static_cast<std::size_t>(t) * B * width + b * width + i];
          const int column = group.first + (m * B + b) * width + i;
          if (place[column] < 0) {
            place[column] = static_cast<std::int32_t>(touched.size());
            touched.push_back(column);
            sums.resize(touched.size() * depth, 0.0f);
          }
          float* sum = sums.data() + place[column] * depth;
          const float x = static_cast<float>(amount);
          for (std::size_t k = 0; k < depth; ++k) sum[k] += x * z[k];
        }
      for (std::size_t i = 0; i < row; ++i) here[i] += after[i];
      chosen += static_cast<std::size_t>(length_) * B * width;
    }
  }
  std::sort(touched.begin(), touched.end());
  for (std::size_t k = 0; k < depth; ++k)
    for (const std::int32_t column : touched)
      out.push_back({static_cast<std::int64_t>(k) * columns_.columns + column, sums[place[column] * depth + k]});
}

}  // namespace margent
