#include "segments/token_content.hpp"

#include <algorithm>
#include <cmath>

#include "interruption.hpp"

namespace margent {

TokenContent::TokenContent(int n_labels, std::int64_t n_features, const Tokens& tokens)
    : n_labels_(n_labels), width_(padded_width(n_labels)), n_features_(n_features), tokens_(tokens) {
  double* one = one_.need(width_);
  std::fill(one, one + width_, 0.0);
}

void TokenContent::turn_to(std::int64_t sequence, const float* weights, double scale) {
  weights_ = weights;
  scale_ = scale;
  begin_ = tokens_.sequence_ptr[sequence];
  length_ = length(sequence);
  collecting_ = false;
  whole_.clear();
  const std::size_t size = static_cast<std::size_t>(length_ + 1) * width_;
  double* begins = begins_.need(size);
  double* ends = ends_.need(size);
  std::fill(begins, begins + size, 0.0);
  std::fill(ends, ends + size, 0.0);
  const DenseView rows(weights, width_);
  const auto gather = [&](const Features& features) {
    float* out = gathered_.need(static_cast<std::size_t>(length_) * width_);
    rows.gather(features, begin_, begin_ + length_, out);
    return out;
  };
  if (tokens_.inside.ptr) {
    // ends[e] is the running sum up to e, and begins[s] minus that up to s.
    const float* inside = gather(tokens_.inside);
    for (std::size_t i = width_; i < size; ++i) ends[i] = ends[i - width_] + scale * inside[i - width_];
    for (std::size_t i = 0; i < size; ++i) begins[i] = -ends[i];
  }
  if (tokens_.first.ptr) {
    const float* first = gather(tokens_.first);
    for (std::size_t i = 0; i + width_ < size; ++i) begins[i] += scale * first[i];
  }
  if (tokens_.last.ptr) {
    const float* last = gather(tokens_.last);
    for (std::size_t i = width_; i < size; ++i) ends[i] += scale * last[i - width_];
  }
}

double TokenContent::magnitude() {
  const std::size_t size = static_cast<std::size_t>(length_ + 1) * width_;
  double largest = std::max(largest_magnitude(begins_.data(), size), largest_magnitude(ends_.data(), size));
  for (int end = 1; tokens_.whole.values && end <= length_; ++end) {  // without values they are as large as weights
    const int count = std::min(end, tokens_.longest);
    const SegmentRows rows = at(end, count);
    if (rows.first)
      largest = std::max(largest, largest_magnitude(rows.first, static_cast<std::size_t>(count) * width_));
  }
  return largest;
}

SegmentRows TokenContent::at(int end, int count) {
  const Features& f = tokens_.whole;
  count = std::min(count, tokens_.longest);
  double* rows = nullptr;
  for (int d = 1; d <= count; ++d) {
    const std::int64_t row = row_of(end - d, d);
    if (f.ptr[row] == f.ptr[row + 1]) continue;
    if (!rows) {
      rows = rows_.need(static_cast<std::size_t>(count) * width_);
      std::fill(rows, rows + static_cast<std::size_t>(count) * width_, 0.0);
    }
    double* out = rows + static_cast<std::size_t>(d - 1) * width_;
    for (std::int64_t k = f.ptr[row]; k < f.ptr[row + 1]; ++k) {
      const float* from = weights_ + static_cast<std::size_t>(f.ids[k]) * width_;
      const double x = scale_ * f.value(k);
      for (int l = 0; l < width_; ++l) out[l] += x * from[l];
    }
  }
  return {rows, width_};
}

void TokenContent::start_collecting() {
  if (collecting_) return;
  collecting_ = true;
  const std::size_t size = static_cast<std::size_t>(length_ + 1) * width_;
  for (Buffer<double>* buffer : {&inside_, &first_, &last_}) std::fill_n(buffer->need(size), size, 0.0);
}

void TokenContent::collect_row(int begin, int end, const double* amounts) {
  start_collecting();
  const std::size_t b = static_cast<std::size_t>(begin) * width_, e = static_cast<std::size_t>(end) * width_;
  for (int l = 0; l < width_; ++l) {
    inside_[b + l] -= amounts[l];
    inside_[e + l] += amounts[l];
    first_[b + l] += amounts[l];
    last_[e - width_ + l] += amounts[l];
  }
  if (tokens_.whole.ptr) emit(tokens_.whole, row_of(begin, end - begin), amounts, whole_);
}

void TokenContent::collect(const Segment& segment, double amount) {
  one_[segment.label] = amount;
  collect_row(segment.begin, segment.end, one_.data());
  one_[segment.label] = 0;
}

void TokenContent::emit(const Features& f, std::int64_t row, const double* amounts, SparseVector& out) const {
  // What is this small is rounding of what cancels.
  constexpr double nothing = 1e-10;
  for (int l = 0; l < n_labels_; ++l) {
    if (std::abs(amounts[l]) < nothing) continue;
    for (std::int64_t k = f.ptr[row]; k < f.ptr[row + 1]; ++k)
      out.push_back({std::int64_t{f.ids[k]} * width_ + l, amounts[l] * f.value(k)});
  }
}

void TokenContent::hand_over(SparseVector& out) {
  if (!collecting_) return;
  collecting_ = false;
  for (int t = length_ - 1; t >= 0; --t) {
    check_interruption(8 * width_);
    const std::size_t row = static_cast<std::size_t>(t) * width_;
    // A token counts in all running sums after it.
    if (tokens_.inside.ptr) emit(tokens_.inside, begin_ + t, inside_.data() + row + width_, out);
    if (tokens_.first.ptr) emit(tokens_.first, begin_ + t, first_.data() + row, out);
    if (tokens_.last.ptr) emit(tokens_.last, begin_ + t, last_.data() + row, out);
    for (int l = 0; l < width_; ++l) inside_[row + l] += inside_[row + width_ + l];
  }
  out.insert(out.end(), whole_.begin(), whole_.end());
  whole_.clear();
}

}  // namespace margent
