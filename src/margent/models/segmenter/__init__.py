"""`Segmenter`: where segments begin and end, and their labels."""
