"""`Translator`: rules of hierarchical phrases, language models, decoding, learning and tuning."""
