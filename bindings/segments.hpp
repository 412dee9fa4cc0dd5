// Segmentations as arrays: (segments, 3) of begin, end, label.
#pragma once
#include <vector>

#include "bindings.hpp"
#include "segments/segments.hpp"

using SegmentArray = Array<std::int32_t, nb::ndim<2>>;

inline Numpy<std::int32_t> segments_to_numpy(const std::vector<margent::Segment>& segments) {
  std::vector<std::int32_t> flat;
  flat.reserve(3 * segments.size());
  for (const margent::Segment& s : segments) flat.insert(flat.end(), {s.begin, s.end, s.label});
  return to_numpy(std::move(flat), {segments.size(), 3});
}

inline std::vector<margent::Segment> segments_from(const SegmentArray& array, int length, int n_labels) {
  if (array.shape(1) != 3) throw nb::value_error("segments should be rows of begin, end and label");
  std::vector<margent::Segment> segments;
  int end = 0;
  for (std::size_t i = 0; i < array.shape(0); ++i) {
    const std::int32_t* row = array.data() + 3 * i;
    if (row[0] != end || row[1] <= end || row[1] > length || row[2] < 0 || row[2] >= n_labels)
      throw nb::value_error("segments should follow each other without a gap, with labels that exist");
    segments.push_back({row[0], row[1], row[2]});
    end = row[1];
  }
  if (end != length) throw nb::value_error("the segments should end where the sequence does");
  return segments;
}
