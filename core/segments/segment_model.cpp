#include "segments/segment_model.hpp"

#include <algorithm>
#include <limits>

namespace margent {

static constexpr double zero = -std::numeric_limits<double>::infinity();

int SegmentShape::most() const { return *std::max_element(longest.begin(), longest.end()); }

SegmentLayout::SegmentLayout(const SegmentShape& shape, std::int64_t n_content) {
  const std::int64_t width = shape.width();
  durations = n_content;
  transitions = durations + shape.n_durations * width;
  start = transitions + shape.n_labels * width;
  end = start + width;
  size = end + width;
}

SegmentScorer::SegmentScorer(const SegmentShape& shape, std::unique_ptr<SegmentContent> content)
    : shape_(shape), content_(std::move(content)), layout_(shape, content_->n_weights()),
      transitions_(static_cast<std::size_t>(shape.n_labels) * shape.width(), zero), start_(shape.width(), zero),
      end_(shape.width(), zero), durations_(static_cast<std::size_t>(shape.most() + 1) * shape.width(), zero),
      amounts_(shape.width()), longest_of_(shape.width() / lane_count, 1),
      collected_(layout_.size - layout_.durations, 0.0) {
  for (int l = 0; l < shape.n_labels; ++l)
    longest_of_[l / lane_count] = std::max(longest_of_[l / lane_count], shape.longest[l]);
}

SegmentScores SegmentScorer::turn_to(std::int64_t sequence, const float* weights, double scale) {
  const int n = shape_.n_labels, width = shape_.width(), most = shape_.most();
  const float *durations = weights + layout_.durations, *transitions = weights + layout_.transitions;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const bool may = shape_.follows.empty() || shape_.follows[i * n + j];
      transitions_[i * width + j] = may ? scale * transitions[i * width + j] : zero;
    }
  for (int l = 0; l < n; ++l) {
    start_[l] = scale * weights[layout_.start + l];
    end_[l] = scale * weights[layout_.end + l];
  }
  for (int d = 1; d <= most; ++d) {
    double* row = durations_.data() + static_cast<std::size_t>(d) * width;
    std::fill(row, row + width, zero);
    for (int l = 0; l < n; ++l)
      if (shape_.shortest[l] <= d && d <= shape_.longest[l]) row[l] = 0;
    for (int f = 0; f < shape_.n_durations; ++f) {
      const double x = scale * shape_.durations[static_cast<std::size_t>(d) * shape_.n_durations + f];
      if (x == 0) continue;
      for (int l = 0; l < n; ++l) row[l] += x * durations[f * width + l];
    }
  }
  content_->turn_to(sequence, weights, scale);
  SegmentScores scores{n,
                       width,
                       content_->length(sequence),
                       most,
                       longest_of_.data(),
                       transitions_.data(),
                       start_.data(),
                       end_.data(),
                       durations_.data(),
                       content_->begins(),
                       content_->ends(),
                       content_->has_rows() ? content_.get() : nullptr};
  return scores;
}

void SegmentScorer::collect_duration(int duration, int label, double amount) {
  const double* features = shape_.durations.data() + static_cast<std::size_t>(duration) * shape_.n_durations;
  for (int f = 0; f < shape_.n_durations; ++f) collected_[f * shape_.width() + label] += amount * features[f];
}

void SegmentScorer::collect(const std::vector<Segment>& segments, const std::vector<Segment>& other, double amount) {
  double* transitions = collected_.data() + (layout_.transitions - layout_.durations);
  const Segment* before = nullptr;
  std::size_t i = 0;
  for (const Segment& s : segments) {
    while (i < other.size() && other[i].begin < s.begin) ++i;
    if (i == other.size() || !(other[i] == s)) {
      content_->collect(s, amount);
      collect_duration(s.end - s.begin, s.label, amount);
    }
    if (before && shape_.learn_transitions) transitions[before->label * shape_.width() + s.label] += amount;
    before = &s;
  }
  if (!before || !shape_.learn_transitions) return;
  collected_[layout_.start - layout_.durations + segments.front().label] += amount;
  collected_[layout_.end - layout_.durations + segments.back().label] += amount;
}

void SegmentScorer::collect_row(int begin, int end, const double* probabilities, double amount) {
  for (int l = 0; l < shape_.width(); ++l) amounts_[l] = amount * probabilities[l];
  content_->collect_row(begin, end, amounts_.data());
  for (int l = 0; l < shape_.n_labels; ++l)
    if (amounts_[l] != 0) collect_duration(end - begin, l, amounts_[l]);
}

void SegmentScorer::collect_pairs(const double* pairs, const double* first, const double* last, double amount) {
  if (!shape_.learn_transitions) return;
  const int width = shape_.width();
  double* transitions = collected_.data() + (layout_.transitions - layout_.durations);
  double* start = collected_.data() + (layout_.start - layout_.durations);
  double* end = collected_.data() + (layout_.end - layout_.durations);
  for (int l = 0; l < shape_.n_labels; ++l) {
    for (int k = 0; k < shape_.n_labels; ++k) transitions[l * width + k] += amount * pairs[l * width + k];
    start[l] += amount * first[l];
    end[l] += amount * last[l];
  }
}

void SegmentScorer::hand_over(SparseVector& out) {
  content_->hand_over(out);
  for (std::size_t i = 0; i < collected_.size(); ++i) {
    if (collected_[i] == 0) continue;
    out.push_back({layout_.durations + static_cast<std::int64_t>(i), collected_[i]});
    collected_[i] = 0;
  }
}

ForcedScores::ForcedScores(const SegmentScores& s, const std::int32_t* labels, int n)
    : from_(s), labels_(labels, labels + n) {
  const int width = padded_width(n);
  const auto take = [&](const double* table, int rows) {
    std::vector<double> out(table ? static_cast<std::size_t>(rows) * width : 0, zero);
    for (int r = 0; table && r < rows; ++r)
      for (int i = 0; i < n; ++i)
        out[static_cast<std::size_t>(r) * width + i] = table[static_cast<std::size_t>(r) * s.width + labels_[i]];
    return out;
  };
  durations_ = take(s.durations, s.longest + 1);
  begins_ = take(s.begins, s.length + 1);
  ends_ = take(s.ends, s.length + 1);
  transitions_.assign(static_cast<std::size_t>(n) * width, zero);
  for (int i = 0; i + 1 < n; ++i)
    transitions_[i * width + i + 1] = s.transitions[labels_[i] * s.width + labels_[i + 1]];
  start_.assign(width, zero);
  end_.assign(width, zero);
  start_[0] = s.start[labels_[0]];
  end_[n - 1] = s.end[labels_[n - 1]];
  longest_of_ = longest_durations(durations_.data(), s.longest, width);
  forced_ = {n,
             width,
             s.length,
             s.longest,
             longest_of_.data(),
             transitions_.data(),
             start_.data(),
             end_.data(),
             durations_.data(),
             s.begins ? begins_.data() : nullptr,
             s.ends ? ends_.data() : nullptr,
             s.rows ? this : nullptr};
}

SegmentRows ForcedScores::at(int end, int count) {
  const SegmentRows rows = from_.rows->at(end, count);
  if (!rows.first) return rows;
  const std::size_t width = forced_.width;
  rows_.assign(count * width, 0.0);
  for (int d = 0; d < count; ++d)
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (d < from_.longest_of[labels_[i] / lane_count])
        rows_[d * width + i] = rows.first[d * rows.stride + labels_[i]];
  return {rows_.data(), static_cast<std::ptrdiff_t>(width)};
}

}  // namespace margent
